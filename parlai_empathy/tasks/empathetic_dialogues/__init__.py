"""EmpatheticDialogues (Rashkin et al. 2019): see README.md beside this file."""

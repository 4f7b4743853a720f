"""What people look at: tables and plots of data, of judges and of raters."""

"""What the data are: one folder a data set, with a builder (finds files), a reader (files to records) and teachers."""

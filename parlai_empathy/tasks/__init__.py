"""What the data are: one folder a data set, with a builder (find the files), a reader (files to records) and teachers."""

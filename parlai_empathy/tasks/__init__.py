"""The data sets, one folder each, with a builder (finds the files), a reader (files to records) and teachers."""

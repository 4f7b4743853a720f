"""What the data sets share: finding and fetching their files, editions, and parts of teachers. It defines no tasks."""

"""The store that keeps ratings, in an SQLite file or on a PostgreSQL server."""

"""What several commands share: options that name files, and what is measured of replies."""

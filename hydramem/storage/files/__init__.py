"""Files of a store besides its databases: durable writes, the folder lock, curated memory."""

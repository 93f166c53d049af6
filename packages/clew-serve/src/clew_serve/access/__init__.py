"""Who asks and what they may: users, roles, hosts, origins, and the one gate before all routes."""

"""Where and how runs are made: workers, their order, their memory, and who watches."""

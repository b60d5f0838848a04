"""Files and the machine below: what can go wrong with them is said in one line."""

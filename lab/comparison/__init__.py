"""clew beside other systems: what they document first, and three applications in each of them."""

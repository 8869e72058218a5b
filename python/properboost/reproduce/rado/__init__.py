"""The items of the regularised rados paper."""

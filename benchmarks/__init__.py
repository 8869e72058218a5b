"""The speed and accuracy of properboost, compared with other libraries."""

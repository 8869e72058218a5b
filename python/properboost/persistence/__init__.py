"""Models as files: versioned JSON, with the kinds of estimators by name.

An estimator that can be saved registers a `Codec` under its name with `kind`.  No module of this
package needs an estimator; it has the parts that several codecs share.
"""

from properboost.persistence.json_node import Node
from properboost.persistence.registry import Codec, kind

__all__ = ["Codec", "Node", "kind"]

"""Models as files: versioned JSON that knows the kinds of estimators by name.

An estimator that files can hold registers a `Codec` under its name with `kind`.  Nothing in this
package knows an estimator; it has the parts that several of them have in common.
"""

from properboost.persistence.json_node import Node
from properboost.persistence.registry import Codec, kind

__all__ = ["Codec", "Node", "kind"]

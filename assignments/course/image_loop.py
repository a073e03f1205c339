"""The loss of the lesson's training loop."""

from torch import nn

#: Cross entropy of logits `[rows, classes]` and labels `[rows]`, averaged over the rows.
loss_fn = nn.CrossEntropyLoss()

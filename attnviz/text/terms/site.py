"""The terms of Anatomy and Implementations, which take one site apart."""

from attnviz.text.terms.shared import SHARED

SITE: dict[str, str] = SHARED | {
    # Parts of Anatomy
    "Shape walk": "Every line of one attention in the order of the code: the tensor it makes, with axes, strides and "
    "bytes.",
    "Skip a line": "A line of the code is left out or changed and run: torch raises, or the numbers are wrong.",
    "Memory order": "Where a small tensor's numbers lie in memory before and after view and transpose.",
    "Claims": "Common statements about heads, scaling and memory, each checked on this model's numbers.",
    "Shapes and counts": "Sizes that are often stated wrongly: of queries, heads, targets and parameters.",
    "Self-attention? Not really": "A head does not compare the tokens themselves but their projections. This shows "
    "how far that is from a plain x xᵀ.",
    # Parts of Implementations
    "Agreement": "How far apart the implementations of attention are, each pair on the same weights and sentences.",
    "Time and memory": "What each implementation costs here, from short sentences to long ones.",
    "Source": "Two implementations side by side, with the lines that differ marked.",
    "Parameters": "Where one head's matrices lie in each implementation's parameters.",
    "Relative positions": "A term for the distance between two tokens, added to the scores by overriding one method.",
    "Mask shapes": "Which shapes a mask may have, and the error for one that does not fit.",
    "Cabinet of bugs": "Common mistakes in attention code, each run on this sentence: what it does to the map and the "
    "translation.",
    "Left": "The implementation whose source is on the left.",
    "Right": "The implementation whose source is on the right.",
    "Put into the model at": "Where the bug is when the whole model runs with it: at this site, in all layers of its "
    "kind, or everywhere.",
    # The site's tensors, and torch's words
    "batch first": "Axes in the order (batch, heads, length, d_k). A batched product works on the last two.",
    "sequence first": "Axes in the order (length, batch, heads, d_k), as in recurrent networks. einsum says which "
    "axes are multiplied.",
    "shape": "The size of a tensor along each of its axes.",
    "strides": "For each axis, how many numbers to skip in memory for one step along it. view, transpose and expand "
    "change strides and sizes only; the numbers stay where they are.",
    "contig.": "Contiguous: the numbers lie in memory in the order of the axes, the last one fastest. Only such a "
    "tensor can be viewed with joined axes.",
    "contiguous": "The numbers lie in memory in the order of the axes, the last one fastest. As a call it copies a "
    "tensor into that order, if it is not in it already.",
    "bytes": "What the tensor's numbers would take: 4 bytes each in float32, 1 in bool.",
    "held": "The bytes of memory behind a tensor: fewer than its numbers would take where an axis is broadcast.",
    "view": "The same memory read with other axes. Nothing is copied; it raises where the strides do not allow it.",
    "reshape": "Like view, but where view would raise, it silently copies.",
    "transpose": "Swaps two axes. No number moves; only the strides swap.",
    "unsqueeze": "Inserts an axis of size 1. A dim from 0 counts from the front; a negative dim counts from the end, "
    "so -1 puts it last.",
    "expand_as": "Repeats axes of size 1 up to another tensor's size, with stride 0: read again and again, never "
    "copied. Broadcasting does the same automatically.",
    "einsum": "A product written with one letter per axis. Letters missing on the right are summed over.",
    "masked_fill": "Writes one number into every cell where a mask is True; here, into the hidden ones.",
    "softmax": "exp of each number divided by the sum of all along one axis. The results are positive and sum to 1.",
    "blank: −∞": "A cell without colour holds minus infinity: the mask hid it, and softmax turns it into 0.",
    "fused kernel": "PyTorch's scaled_dot_product_attention: scores, softmax and the product with the values in one "
    "step, without ever storing the weights.",
    "q_len": "How many queries there are: the rows of a map.",
    "k_len": "How many keys there are: the columns of a map. In cross-attention it is the source's length.",
    "d_model": "The size of a token's vector between layers: the input and output size of attention.",
    "d_v": "The size of one head's values; here, as usual, the same as its queries and keys.",
    "memory": "What keys and values are made from: the input itself in self-attention, the encoder's output in "
    "cross-attention. Beside bytes, the computer's memory.",
    "row-major": "The order of numbers in memory that PyTorch uses: the last axis runs fastest, row after row.",
    "result": "silent: no error and the shapes fit, but the numbers are wrong. raises: torch stops with an exception.",
    "silent": "No error and the shapes fit, but the numbers are wrong.",
    "raises": "torch stops with an exception.",
    "NaN": "Not a number: the result of 0/0, or of softmax over nothing but −∞. Everything computed from it becomes "
    "NaN too.",
    "row sums": "The sum of the weights of one row; 1 if softmax went over the keys.",
    "off by up to": "The largest absolute difference from the right result, over all heads and both sentences.",
    "difference": "The result minus the right one, cell by cell.",
    "W_o": "The output projection. It mixes the heads' results; plain attention does not have this fourth matrix.",
    "learned numbers": "Parameters: the entries of all weight matrices and biases.",
    "variance": "How far numbers spread: the mean squared distance from their mean.",
    "autograd": "PyTorch's record of a forward pass, kept for the backward pass in training.",
    "recorder": "Keeps query, key and value of each site while a model runs, so that the pages can show them.",
    "peak": "The most memory in use at any moment during the call.",
    "alive": "Memory in use at that moment.",
    "median": "The middle one of the measured times. A single slow run does not change it.",
    "additive": "Scores computed as v · tanh(query + key) (Bahdanau et al. 2015) instead of a dot product.",
    "bilinear form": "x F yᵀ: a number from two vectors by way of a matrix F. For a head, F = W_Q W_Kᵀ.",
    "modulation": "What a head's learned matrices turn x xᵀ into: tokens are compared after projection, not as they "
    "are.",
    "asymmetry": "|F − Fᵀ| / 2|F|: 0 when i looks at j exactly as j looks at i; about 0.71 for random numbers.",
    "rank": "In how many independent directions a matrix can tell vectors apart.",
    "spectrum": "All singular values of a matrix, largest first.",
    "singular value": "How much a matrix stretches one of its own directions.",
    "tgt_in": "What the decoder reads: the target without its last token.",
    "tgt_out": "What the decoder should say (the labels): the target without its first token, <bos:…>.",
    "Xavier": "Initial weights with variance 2 / (inputs + outputs), which keeps signals at about the same strength.",
    "ModuleList": "A list that registers the layers in it with PyTorch. A plain Python list does not.",
    "max |Δ|": "The largest absolute difference between two results, over all their numbers.",
    "allclose": "True when every pair of numbers differs by less than a tolerance (atol, plus a share of its size).",
    "get_scores": "The one method that computes scores from queries and keys. A subclass overrides it for relative "
    "positions.",
    "prepare_mask": "Checks the sizes of a mask and adds an axis for the heads before it meets the scores.",
    "broadcasting": "How tensors of different sizes combine: axes are matched from the last one, and an axis of size "
    "1 is repeated.",
    "logits": "The model's numbers for each token of its vocabulary, before softmax.",
    "dropout": "In training, some weights are set to 0 at random and the others enlarged.",
    "in_proj_weight": "nn.MultiheadAttention's one matrix for queries, keys and values, stacked on top of each other.",
    "Reach": "Offsets between two tokens beyond this are treated as this.",
    "Strength": "How much the made-up table of offsets adds to a score. Below 0 it favours distant tokens.",
}

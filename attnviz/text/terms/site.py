"""The terms of Anatomy and Implementations, which take one site apart."""

from attnviz.text.terms.shared import SHARED

SITE: dict[str, str] = SHARED | {
    # Parts of Anatomy
    "Shape walk": "Every line of one attention in the order of its code: the tensor that it makes, with axes, strides "
    "and bytes.",
    "Skip a line": "A line of the code is left out or changed, and run: torch raises, or the numbers are wrong.",
    "Memory order": "Where a small tensor's numbers lie in memory before and after view and transpose.",
    "Claims": "What is often said about heads, scaling and memory, each checked on this model's numbers.",
    "Shapes and counts": "What is often written wrongly about sizes: of queries, heads, targets and parameters.",
    "Self-attention? Not really": "A head does not compare tokens as they are, but what its matrices make of them: how "
    "far from a plain x xᵀ.",
    # Parts of Implementations
    "Agreement": "How far apart the ways to write attention are, each pair on the same weights and sentences.",
    "Time and memory": "What each way to write attention costs here, from short sentences to long ones.",
    "Source": "Two sources side by side, the lines that differ marked.",
    "Parameters": "Where one head's matrices lie in each implementation's parameters.",
    "Relative positions": "A term for the distance between two tokens, added to the scores by overriding one method.",
    "Mask shapes": "In which shapes a mask may come, and what is said to one that does not fit.",
    "Cabinet of bugs": "Common slips in attention code, each run on this sentence: what it does to map and "
    "translation.",
    "Left": "The implementation whose source stands on the left.",
    "Right": "The implementation whose source stands on the right.",
    "Put into the model at": "Where the bug is put when the whole model runs with it: at this site, at all layers of "
    "its kind, or everywhere.",
    # The site's tensors, and torch's words
    "batch first": "Axes in the order (batch, heads, length, d_k): a batched product works on the last two.",
    "sequence first": "Axes in the order (length, batch, heads, d_k), as recurrent networks had it; einsum says which "
    "axes are multiplied.",
    "shape": "The size of a tensor along each of its axes.",
    "strides": "For each axis, how many numbers to skip in memory for one step along it. view, transpose and expand "
    "change strides and sizes only; the numbers stay where they are.",
    "contig.": "Contiguous: the numbers lie in memory in the order of the axes, the last one fastest. Only such a "
    "tensor can be viewed with axes joined.",
    "contiguous": "The numbers lie in memory in the order of the axes, the last one fastest. As a call it copies a "
    "tensor into that order, if it is not in it already.",
    "bytes": "What the tensor's numbers would take by themselves: 4 bytes each in float32, 1 in bool.",
    "held": "The bytes of memory under a tensor: fewer than its numbers would take where an axis is broadcast.",
    "view": "The same memory read with other axes. Nothing is copied; it raises where the strides do not allow it.",
    "reshape": "As view, but where view would raise it copies, without a word.",
    "transpose": "Two axes change places. No number moves; the strides change places.",
    "unsqueeze": "Puts an axis of size 1 in. A dim from 0 counts from the front, the axis stands before the one that "
    "was there; a negative dim counts from the end, so that -1 puts it last.",
    "expand_as": "Axes of size 1 are repeated up to another tensor's size with stride 0: read again and again, never "
    "copied. Broadcasting does the same by itself.",
    "einsum": "A product written with a letter for each axis: letters that are missing on the right are summed over.",
    "masked_fill": "Writes one number into every cell where a mask is True; here into the hidden ones.",
    "softmax": "exp of each number divided by the sum of all along one axis: positive, and they sum to 1.",
    "blank: −∞": "A cell without colour holds minus infinity: the mask hid it, and softmax makes 0 of it.",
    "fused kernel": "PyTorch's scaled_dot_product_attention: scores, softmax and the product with the values in one "
    "go, without ever making the weights as a tensor.",
    "q_len": "How many queries there are: the rows of a map.",
    "k_len": "How many keys there are: the columns of a map. In cross-attention it is the source's length.",
    "d_model": "The size of a token's vector between layers; what goes into attention and comes out of it.",
    "d_v": "The size of one head's values; here, as usual, that of its queries and keys.",
    "memory": "What keys and values are made from: the input itself in self-attention, the encoder's output in "
    "cross-attention. Where bytes are meant, the computer's memory.",
    "row-major": "The order of numbers in memory that PyTorch uses: the last axis runs fastest, row after row.",
    "result": "silent: nothing is raised and the shapes fit, only the numbers are wrong. raises: torch stops "
    "with an exception.",
    "silent": "Nothing is raised and the shapes fit: only the numbers are wrong.",
    "raises": "torch stops with an exception.",
    "NaN": "Not a number: what comes of 0/0 or of softmax over nothing but −∞. Whatever it touches becomes NaN too.",
    "row sums": "The sum of the weights of one row; 1 if softmax went over the keys.",
    "off by up to": "The largest absolute difference from the right result, over all heads and both sentences.",
    "difference": "The tried map less the right one, cell by cell.",
    "W_o": "The output projection: mixes the heads' results, and is the fourth matrix that plain attention lacks.",
    "learned numbers": "Parameters: the entries of all weight matrices and biases.",
    "variance": "How far numbers spread: the mean squared distance from their mean.",
    "autograd": "PyTorch's record of a forward pass, kept for the backward pass of training.",
    "recorder": "What writes down query, key and value of each site while a model runs, for the pages to show.",
    "peak": "The most memory that was in use at once during the call.",
    "alive": "Memory in use at that moment.",
    "median": "The middle one of the measured times: a single slow run does not move it.",
    "additive": "Scores made as v · tanh(query + key) (Bahdanau et al. 2015), where the dot product multiplies.",
    "bilinear form": "x F yᵀ: a number from two vectors by way of a matrix F. For a head, F = W_Q W_Kᵀ.",
    "modulation": "What a head's learned matrices make of x xᵀ: tokens are compared after projection, not as they are.",
    "asymmetry": "|F − Fᵀ| / 2|F|: 0 when i looks at j exactly as j looks at i; about 0.71 for random numbers.",
    "rank": "In how many independent directions a matrix can tell vectors apart.",
    "spectrum": "All singular values of a matrix, largest first.",
    "singular value": "How much a matrix stretches one of its own directions.",
    "tgt_in": "What the decoder reads: the target without its last token.",
    "tgt_out": "What it should say, the labels: the target without its first token, <bos:…>.",
    "Xavier": "Initial weights with variance 2 / (inputs + outputs), which keeps signals about as strong as they were.",
    "ModuleList": "A list that tells PyTorch of the layers in it; a Python list does not.",
    "max |Δ|": "The largest absolute difference between two results, over all their numbers.",
    "allclose": "True when every pair of numbers differs by less than a tolerance (atol, plus a share of its size).",
    "get_scores": "The one method that makes scores from queries and keys: a subclass overrides it for relative "
    "positions.",
    "prepare_mask": "Checks the sizes of a mask and gives it an axis for the heads, before it meets the scores.",
    "broadcasting": "Tensors of different sizes meet: axes are matched from the last one, and one of size 1 is "
    "repeated.",
    "logits": "The model's numbers for each token of its vocabulary, before softmax.",
    "dropout": "In training, some weights are set to 0 at random and the others enlarged.",
    "in_proj_weight": "nn.MultiheadAttention's one matrix for queries, keys and values, one below the other.",
    "Reach": "Offsets between two tokens farther than this count as this far.",
    "Strength": "How much the made-up table of offsets adds to a score; below 0 it favours what is far away.",
}

"""The edge scorer with torch: light graph convolution, and a decoder of typed edges."""

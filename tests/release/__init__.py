"""What a release is made of: the wheel, the source archive, their versions, and the image."""

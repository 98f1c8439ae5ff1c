package dev.isola.provider.memory.file;

/** An open file: goes on working when its name is gone. */
public final class OpenContent {
  private final Tree tree;
  private final String path;
  private final Node.RegularFile file;
  private final Content content;

  OpenContent(Tree tree, String path, Node.RegularFile file) {
    this.tree = tree;
    this.path = path;
    this.file = file;
    this.content = file.content;
  }

  public int read(long position, byte[] buffer, int offset, int length) {
    return content.read(position, buffer, offset, length);
  }

  public void write(long position, byte[] bytes, int offset, int length) {
    content.write(position, bytes, offset, length);
    tree.modified(path, file);
  }

  public void append(byte[] bytes, int offset, int length) {
    content.append(bytes, offset, length);
    tree.modified(path, file);
  }

  public long size() {
    return content.size();
  }

  String path() {
    return path;
  }
}

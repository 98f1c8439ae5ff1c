package dev.isola.provider.memory.file;

import dev.isola.spi.Bytes;
import dev.isola.spi.file.FileType;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One thing in the tree. Guarded by the tree's lock. */
abstract sealed class Node {
  int mode;
  long uid;
  long gid;
  Instant modifiedAt;
  final Map<String, Bytes> attributes = new TreeMap<>();

  private Node(int mode) {
    this.mode = mode;
    this.modifiedAt = Instant.now();
  }

  abstract FileType type();

  long size() {
    return 0;
  }

  /** A regular file. */
  static final class RegularFile extends Node {
    Content content;

    RegularFile(int mode, Content content) {
      super(mode);
      this.content = content;
    }

    @Override
    FileType type() {
      return FileType.FILE;
    }

    @Override
    long size() {
      return content.size();
    }
  }

  /** A folder. */
  static final class Folder extends Node {
    private final TreeMap<String, Node> entries = new TreeMap<>();

    Folder(int mode) {
      super(mode);
    }

    @Nullable Node get(String name) {
      return entries.get(name);
    }

    void put(String name, Node node) {
      entries.put(name, node);
      modifiedAt = Instant.now();
    }

    void remove(String name) {
      entries.remove(name);
      modifiedAt = Instant.now();
    }

    Map<String, Node> entries() {
      return entries;
    }

    @Override
    FileType type() {
      return FileType.FOLDER;
    }
  }

  /** A symbolic link. */
  static final class Link extends Node {
    final String target;

    Link(String target) {
      super(0777);
      this.target = target;
    }

    @Override
    FileType type() {
      return FileType.LINK;
    }

    @Override
    long size() {
      return target.length();
    }
  }

  /** A device. */
  static final class Device extends Node {
    final DeviceKind kind;

    Device(DeviceKind kind) {
      super(0666);
      this.kind = kind;
    }

    @Override
    FileType type() {
      return FileType.OTHER;
    }
  }
}

package dev.isola.provider.memory.file;

import org.jspecify.annotations.Nullable;

/**
 * Where a path leads.
 *
 * @param folder the folder it is in; the root is in itself
 * @param name its name there; empty for the root
 * @param path absolute, without links in its folders
 * @param node what is there, or null
 */
record Place(Node.Folder folder, String name, String path, @Nullable Node node) {
  Node existing() {
    if (node == null) {
      throw FileFaults.missing(path);
    }
    return node;
  }

  Node.Folder asFolder() {
    if (existing() instanceof Node.Folder found) {
      return found;
    }
    throw FileFaults.notAFolder(path);
  }

  Node.RegularFile asFile() {
    return switch (existing()) {
      case Node.RegularFile file -> file;
      case Node.Folder ignored -> throw FileFaults.isAFolder(path);
      case Node.Link ignored -> throw FileFaults.notAFile(path);
      case Node.Device ignored -> throw FileFaults.notAFile(path);
    };
  }

  boolean isRoot() {
    return name.isEmpty();
  }
}

package dev.isola.provider.memory.file;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows one path through the tree. Links stay inside: an absolute one starts at the tree's root.
 */
final class Walk {
  private static final int MOST_LINKS = 40;

  private final Deque<String> ahead = new ArrayDeque<>();
  private final List<Node.Folder> folders = new ArrayList<>();
  private final List<String> names = new ArrayList<>();
  private final String asked;
  private int links;

  private Walk(Node.Folder root, String path) {
    this.asked = path;
    folders.add(root);
    push(path);
  }

  /**
   * Follows {@code path}, which is absolute.
   *
   * @param follow whether a link at the very end is followed
   * @param made told of every missing folder on the way, which is made; null to make none
   */
  static Place to(Node.Folder root, String path, boolean follow, @Nullable Consumer<String> made) {
    return new Walk(root, path).go(follow, made);
  }

  private Place go(boolean follow, @Nullable Consumer<String> made) {
    while (!ahead.isEmpty()) {
      String name = ahead.pop();
      if (name.equals("..")) {
        up();
        continue;
      }
      Node.Folder here = folders.getLast();
      Node next = here.get(name);
      boolean last = ahead.isEmpty();
      if (next instanceof Node.Link link && (follow || !last)) {
        enter(link);
      } else if (last) {
        return new Place(here, name, pathOf(name), next);
      } else {
        step(name, next == null && made != null ? make(here, name, made) : next);
      }
    }
    String path = names.isEmpty() ? "/" : "/" + String.join("/", names);
    return new Place(
        folders.get(Math.max(0, folders.size() - 2)),
        names.isEmpty() ? "" : names.getLast(),
        path,
        folders.getLast());
  }

  private void step(String name, @Nullable Node next) {
    switch (next) {
      case null -> throw FileFaults.missing(asked, pathOf(name) + "/" + String.join("/", ahead));
      case Node.Folder folder -> {
        folders.add(folder);
        names.add(name);
      }
      default -> throw FileFaults.notAFolder(pathOf(name));
    }
  }

  private Node make(Node.Folder here, String name, Consumer<String> made) {
    Node.Folder folder = new Node.Folder(0755);
    here.put(name, folder);
    made.accept(pathOf(name));
    return folder;
  }

  private void up() {
    if (!names.isEmpty()) {
      names.removeLast();
      folders.removeLast();
    }
  }

  private void enter(Node.Link link) {
    if (++links > MOST_LINKS) {
      throw FileFaults.invalid(asked, "runs through a loop of links");
    }
    if (link.target.startsWith("/")) {
      names.clear();
      folders.subList(1, folders.size()).clear();
    }
    push(link.target);
  }

  private void push(String path) {
    List<String> parts = new ArrayList<>();
    for (String part : path.split("/")) {
      if (!part.isEmpty() && !part.equals(".")) {
        if (part.getBytes(StandardCharsets.UTF_8).length > 255) {
          throw FileFaults.invalid(asked, "has a name of more than 255 bytes");
        }
        parts.add(part);
      }
    }
    parts.reversed().forEach(ahead::push);
  }

  private String pathOf(String name) {
    return names.isEmpty() ? "/" + name : "/" + String.join("/", names) + "/" + name;
  }
}

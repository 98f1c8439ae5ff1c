package dev.isola.provider.memory.file;

import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Unpacks an archive beneath a folder, and nowhere else. */
final class TreeImport {
  private static final int CHUNK = 64 * 1024;

  private final Tree tree;
  private final String path;
  private final TreeLimits limits;
  private long entries;
  private long bytes;

  TreeImport(Tree tree, String path, TreeLimits limits) {
    this.tree = tree;
    this.path = path;
    this.limits = limits;
  }

  TreeSummary from(InputStream archive) {
    tree.makeFolder(path, 0755);
    String root = tree.stat(path, true).path();
    TarInput tar = new TarInput(archive);
    try {
      for (TarHeader entry = tar.next(); entry != null; entry = tar.next()) {
        unpack(root, entry, tar);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new TreeSummary(entries, bytes);
  }

  private void unpack(String root, TarHeader entry, TarInput tar) throws IOException {
    List<String> parts = parts(entry.name());
    count(entry);
    if (parts.isEmpty()) {
      return;
    }
    refuseLinksOnTheWay(root, parts);
    String target = root + "/" + String.join("/", parts);
    switch (entry.type()) {
      case '0', '7' -> file(target, entry, tar);
      case '5' -> folder(target, entry);
      case '2' -> link(target, parts, entry);
      case '1' -> hardLink(root, target, entry);
      case '3', '4' -> throw FileFaults.badArchive(entry.name() + " is a device");
      case '6' -> throw FileFaults.badArchive(entry.name() + " is a pipe");
      default -> throw FileFaults.badArchive(entry.name() + " is of type " + entry.type());
    }
  }

  private List<String> parts(String name) {
    if (name.isEmpty() || name.startsWith("/") || name.indexOf('\0') >= 0) {
      throw FileFaults.badArchive("the name '" + name.replace('\0', '?') + "' is not allowed");
    }
    List<String> parts = new ArrayList<>();
    for (String part : name.split("/")) {
      if (part.equals("..") && !tree.faults().has(PlantedFault.ARCHIVE_CLIMBS)) {
        throw FileFaults.badArchive("the name '" + name + "' climbs out");
      }
      if (!part.isEmpty() && !part.equals(".")) {
        parts.add(part);
      }
    }
    return parts;
  }

  private void count(TarHeader entry) {
    entries++;
    if (entries > limits.maxEntries()) {
      throw FileFaults.tooMuch("entries", limits.maxEntries());
    }
    if (entry.type() == '0' || entry.type() == '7') {
      if (entry.size() > limits.maxBytes() - bytes) {
        throw FileFaults.tooMuch("bytes", limits.maxBytes());
      }
      bytes += entry.size();
    }
  }

  private void refuseLinksOnTheWay(String root, List<String> parts) {
    StringBuilder way = new StringBuilder(root);
    for (String part : parts.subList(0, parts.size() - 1)) {
      way.append('/').append(part);
      Optional<FileInfo> there = tree.find(way.toString(), false);
      if (there.isPresent() && there.get().type() != FileType.FOLDER) {
        throw FileFaults.badArchive(
            "'" + String.join("/", parts) + "' runs through something that is not a folder");
      }
    }
  }

  private void file(String target, TarHeader entry, TarInput tar) throws IOException {
    Content content = tree.looseContent();
    try {
      byte[] buffer = new byte[CHUNK];
      for (int n = tar.read(buffer); n >= 0; n = tar.read(buffer)) {
        content.append(buffer, 0, n);
      }
      tree.replace(target, content, Optional.of(entry.mode()), 0, false);
      tree.change(target, false, node -> node.modifiedAt = entry.modifiedAt());
    } catch (RuntimeException | IOException e) {
      content.release();
      throw e;
    }
  }

  private void folder(String target, TarHeader entry) {
    if (tree.find(target, false).filter(there -> there.type() != FileType.FOLDER).isPresent()) {
      throw FileFaults.badArchive(entry.name() + " is there and is not a folder");
    }
    tree.makeFolder(target, entry.mode());
    tree.changeMode(target, entry.mode());
  }

  private void link(String target, List<String> parts, TarHeader entry) {
    if (leadsOut(parts.size() - 1, entry.linkName())) {
      throw FileFaults.badArchive(entry.name() + " leads out, to " + entry.linkName());
    }
    Optional<FileInfo> there = tree.find(target, false);
    if (there.isPresent() && there.get().type() != FileType.FOLDER) {
      tree.remove(target, false);
    }
    tree.makeLink(target, entry.linkName());
  }

  private static boolean leadsOut(int depth, String target) {
    if (target.isEmpty() || target.startsWith("/")) {
      return true;
    }
    int level = depth;
    for (String part : target.split("/")) {
      if (part.equals("..")) {
        level--;
      } else if (!part.isEmpty() && !part.equals(".")) {
        level++;
      }
      if (level < 0) {
        return true;
      }
    }
    return false;
  }

  /** A second name becomes a copy: nodes here have one name each. */
  private void hardLink(String root, String target, TarHeader entry) {
    List<String> source = parts(entry.linkName());
    if (source.isEmpty()) {
      throw FileFaults.badArchive(entry.name() + " is a second name of nothing");
    }
    refuseLinksOnTheWay(root, source);
    String from = root + "/" + String.join("/", source);
    if (tree.find(from, false).filter(there -> there.type() == FileType.FILE).isEmpty()) {
      throw FileFaults.badArchive(entry.name() + " is a second name of what is not there");
    }
    OpenContent original = tree.open(from);
    Content copy = tree.looseContent();
    byte[] buffer = new byte[CHUNK];
    for (int n = original.read(0, buffer, 0, CHUNK);
        n > 0;
        n = original.read(copy.size(), buffer, 0, CHUNK)) {
      copy.append(buffer, 0, n);
    }
    tree.replace(target, copy, Optional.of(tree.stat(from, false).mode()), 0, false);
  }
}

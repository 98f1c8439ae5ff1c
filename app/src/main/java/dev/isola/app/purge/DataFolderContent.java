package dev.isola.app.purge;

import dev.isola.app.cli.DataFolder;
import dev.isola.store.DiskReserve;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The entries of a data folder: those that Isola creates, and others, which are never removed.
 *
 * @param own the entries of Isola
 * @param others the entries that Isola does not know
 */
record DataFolderContent(List<Path> own, List<Path> others) {
  private static final Set<String> NAMES =
      Set.of(
          "ledger",
          "snapshots",
          "images",
          "volumes",
          "volume-disks",
          "templates",
          "leases",
          DataFolder.BUILDS,
          DataFolder.CONTROLLER,
          DataFolder.MCP,
          "kernel",
          "instances",
          "audit.jsonl",
          "audit.jsonl.new",
          DiskReserve.FOLDER,
          "secrets.key",
          "secrets.key.new",
          "server-name",
          "e2b-tls",
          "instance");

  /**
   * Names with a number or a time. Whole names only: a file of the operator may begin like one of
   * Isola.
   */
  private static final Pattern NUMBERED =
      Pattern.compile(
          "audit\\.jsonl\\.\\d+"
              + "|\\.(backup-|restore-|instance|server-name)\\d+"
              + "|secrets\\d+\\.part"
              + "|(instance|secrets\\.key(\\.new)?)\\.before-restore-\\d{8}-\\d{6}");

  /**
   * Lists a folder. Without the file {@code instance} it is not a data folder, and nothing in it is
   * Isola's.
   *
   * @param providers the names of providers, which are folders
   */
  static DataFolderContent of(Path data, List<String> providers) throws IOException {
    List<Path> own = new ArrayList<>();
    List<Path> others = new ArrayList<>();
    boolean marked = Files.isRegularFile(data.resolve("instance"), LinkOption.NOFOLLOW_LINKS);
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(data)) {
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        (marked && isOwn(name, providers) ? own : others).add(entry);
      }
    } catch (NoSuchFileException none) {
      return new DataFolderContent(List.of(), List.of());
    }
    // The file that marks the folder goes last, so that an interrupted removal can be repeated.
    own.sort((one, other) -> Boolean.compare(one.endsWith("instance"), other.endsWith("instance")));
    return new DataFolderContent(List.copyOf(own), List.copyOf(others));
  }

  private static boolean isOwn(String name, List<String> providers) {
    return NAMES.contains(name) || providers.contains(name) || NUMBERED.matcher(name).matches();
  }
}

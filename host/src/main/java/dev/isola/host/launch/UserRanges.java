package dev.isola.host.launch;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives every sandbox of this machine a range of user ids that no other sandbox and no user of the
 * machine has. The folder of a sandbox records its first id. The registry, which the installations
 * of a machine share, has a claim for every range: a file named by the first id, with the id of the
 * installation and the path of the sandbox's folder. A claim ends with that folder and with the
 * layers that the sandbox wrote, so nothing has to be released, and a crash loses nothing.
 *
 * @param registry the folder of the claims
 * @param etc the {@code /etc} of the host or of a test
 */
record UserRanges(Path registry, Path etc) {
  static final UserRanges OF_HOST =
      new UserRanges(Path.of("/var/lib/isola-users"), Path.of("/etc"));

  /** The number of ids that programs expect. */
  static final int COUNT = 65_536;

  /** The ids that systemd also uses for containers: 524288 to 1879048191. */
  private static final IdRange DEFAULT = new IdRange(8L * COUNT, 28_664L * COUNT);

  /** The name in {@code /etc/subuid} with which an operator reserves other ids for sandboxes. */
  private static final String NAME = "isola";

  /** Programs store ids as signed numbers. */
  private static final long MAX_ID = Integer.MAX_VALUE;

  private static final String RECORD = "first-user";
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** Consecutive ids. */
  private record IdRange(long first, long count) {
    boolean overlaps(IdRange other) {
      return first < other.first + other.count && other.first < first + count;
    }
  }

  /** The content of a claim. */
  private record Claim(String instance, Path folder) {
    /** Reads a claim; empty if its content was lost with the power of the machine. */
    static Optional<Claim> read(Path file) throws IOException {
      String[] fields = Files.readString(file).split(" ", 2);
      return fields.length == 2 && fields[1].startsWith("/")
          ? Optional.of(new Claim(fields[0], Path.of(fields[1])))
          : Optional.empty();
    }

    String text() {
      return instance + " " + folder;
    }
  }

  /**
   * Returns the first id of a sandbox, always the same for the same folder.
   *
   * @param folder the sandbox's folder, which is two levels below the provider's data folder
   * @param hash determines which range is tried first
   */
  long firstId(InstanceId instance, Path folder, int hash) throws IOException {
    OptionalLong known = recorded(folder);
    if (known.isPresent()) {
      return known.getAsLong();
    }
    LOCK.lock();
    try {
      Path claims = claims(folder);
      try (FileChannel file = openLock(claims)) {
        file.lock(); // until it is closed
        OptionalLong meanwhile = recorded(folder);
        return meanwhile.isPresent()
            ? meanwhile.getAsLong()
            : allocate(claims, instance, folder, hash);
      }
    } finally {
      LOCK.unlock();
    }
  }

  /**
   * Removes the claims of an installation whose sandboxes and layers are gone. What has ended is
   * replaced by the next sandbox with that range in any case; this is for a machine that shall keep
   * nothing of the installation.
   */
  void removeEndedClaims(InstanceId instance) throws IOException {
    if (!Files.isDirectory(registry)) {
      return;
    }
    LOCK.lock();
    try (FileChannel file = openLock(registry);
        DirectoryStream<Path> all = Files.newDirectoryStream(registry, "[0-9]*")) {
      file.lock(); // until it is closed
      for (Path one : all) {
        Optional<Claim> claim =
            Claim.read(one).filter(found -> found.instance.equals(instance.value()));
        if (claim.isPresent() && !isValid(claim.get(), firstId(one))) {
          Files.delete(one);
        }
      }
    } finally {
      LOCK.unlock();
    }
  }

  private static long firstId(Path claim) {
    return Long.parseLong(claim.getFileName().toString());
  }

  /** Returns the recorded id. A record that was not completed means nothing. */
  private static OptionalLong recorded(Path folder) throws IOException {
    try {
      String text = Files.readString(folder.resolve(RECORD));
      return text.matches("\\d{1,10}\n")
          ? OptionalLong.of(Long.parseLong(text.strip()))
          : OptionalLong.empty();
    } catch (NoSuchFileException none) {
      return OptionalLong.empty();
    }
  }

  /** Returns the registry, or where it cannot be written a folder of the provider. */
  private Path claims(Path folder) throws IOException {
    try {
      return Files.createDirectories(registry, OWNER_ONLY);
    } catch (IOException readOnly) {
      Path own = folder.toAbsolutePath().resolve("../../users").normalize();
      return Files.createDirectories(own, OWNER_ONLY);
    }
  }

  private static FileChannel openLock(Path claims) throws IOException {
    return FileChannel.open(
        claims.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  private long allocate(Path claims, InstanceId instance, Path folder, int hash)
      throws IOException {
    Claim own = new Claim(instance.value(), folder.toAbsolutePath());
    IdRange pool = pool();
    List<IdRange> taken = takenByOthers();
    int ranges = Math.toIntExact(pool.count / COUNT);
    for (int i = 0; i < ranges; i++) {
      int number = (int) ((Math.floorMod(hash, ranges) + (long) i) % ranges);
      IdRange range = new IdRange(pool.first + (long) number * COUNT, COUNT);
      if (taken.stream().noneMatch(range::overlaps)
          && !isClaimedByAnother(claims, range.first, own)) {
        write(claims.resolve(Long.toString(range.first)), own.text());
        write(folder.resolve(RECORD), range.first + "\n");
        return range.first;
      }
    }
    throw new IOException(
        "no range of user ids is left for a sandbox: all "
            + ranges
            + " between "
            + pool.first
            + " and "
            + (pool.first + pool.count - 1)
            + " are in use; destroy sandboxes, or assign more to the name isola in /etc/subuid");
  }

  /** A claim appears complete, so that a crash does not leave one that is never ended. */
  private static void write(Path file, String text) throws IOException {
    Path unfinished = file.resolveSibling("." + file.getFileName() + ".new");
    Files.writeString(unfinished, text);
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static boolean isClaimedByAnother(Path claims, long first, Claim own) throws IOException {
    try {
      Optional<Claim> claim = Claim.read(claims.resolve(Long.toString(first)));
      return claim.isEmpty()
          || (!claim.get().folder.equals(own.folder) && isValid(claim.get(), first));
    } catch (NoSuchFileException unclaimed) {
      return false;
    }
  }

  private static boolean isValid(Claim claim, long first) throws IOException {
    return Files.exists(claim.folder)
        || hasLayer(claim.folder.resolve("../../layers").normalize(), first);
  }

  /** Reports whether a forked sandbox with this range left a layer that its forks still use. */
  private static boolean hasLayer(Path layers, long first) throws IOException {
    if (!Files.isDirectory(layers)) {
      return false;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(layers)) {
      for (Path layer : all) {
        Path written = layer.resolve("first");
        if (Files.exists(written) && Files.readString(written).equals(Long.toString(first))) {
          return true;
        }
      }
    } catch (NoSuchFileException removedMeanwhile) {
      return true; // asked again for the next sandbox
    }
    return false;
  }

  private IdRange pool() throws IOException {
    return subordinate("subuid", true).stream()
        .map(range -> new IdRange(range.first, Math.min(range.count, MAX_ID - range.first)))
        .filter(range -> range.count >= COUNT)
        .findFirst()
        .orElse(DEFAULT);
  }

  /** Returns the ids of the machine's users and groups and those that they were assigned. */
  private List<IdRange> takenByOthers() throws IOException {
    List<IdRange> taken = new ArrayList<>(subordinate("subuid", false));
    taken.addAll(subordinate("subgid", false));
    for (String file : List.of("passwd", "group")) {
      for (String[] fields : lines(file)) {
        number(fields, 2).ifPresent(id -> taken.add(new IdRange(id, 1)));
      }
    }
    return taken;
  }

  private List<IdRange> subordinate(String file, boolean ofSandboxes) throws IOException {
    List<IdRange> ranges = new ArrayList<>();
    for (String[] fields : lines(file)) {
      Optional<Long> first = number(fields, 1);
      Optional<Long> count = number(fields, 2);
      if (first.isPresent() && count.isPresent() && fields[0].equals(NAME) == ofSandboxes) {
        ranges.add(new IdRange(first.get(), count.get()));
      }
    }
    return ranges;
  }

  private List<String[]> lines(String file) throws IOException {
    try {
      return Files.readAllLines(etc.resolve(file)).stream()
          .map(line -> line.strip().split(":", -1))
          .toList();
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  private static Optional<Long> number(String[] fields, int index) {
    return fields.length > index && fields[index].matches("\\d{1,10}")
        ? Optional.of(Long.parseLong(fields[index]))
        : Optional.empty();
  }
}

package dev.isola.engine.admission;

import dev.isola.engine.api.Resources;
import dev.isola.store.DiskReserve;
import dev.isola.store.DiskSpace;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Decides whether the file systems of the server have space for one more sandbox. A disk limit is a
 * ceiling, not the usage: the space that is free now, beyond a floor, must be at least the limit
 * divided by the overcommit factor.
 *
 * @param overcommit how many times the free space the limit of a new sandbox may be
 * @param floorMb the space that creates leave free in each file system, or a twentieth of it if
 *     that is less
 * @param floorInodes the inodes that creates leave free, or a twentieth of all if that is less
 * @param workspaces the folders that hold the files of sandboxes; those that do not exist are
 *     ignored
 * @param others other folders that the server writes to, where only the floor counts
 * @param spaces reads the space of a folder
 */
public record DiskHeadroom(
    double overcommit,
    long floorMb,
    long floorInodes,
    List<Path> workspaces,
    List<Path> others,
    DiskReserve reserve,
    Function<Path, Optional<DiskSpace>> spaces) {
  /** The resource of a {@link Shortage} of space or inodes. */
  static final String RESOURCE = "disk";

  /** What is reserved for a sandbox that is starting. Later usage shows up in the free space. */
  private static final long STARTING_MB = 1;

  private static final long STARTING_INODES = 64;
  private static final int SHARE = 20;

  /** For sandboxes that do not run on this machine. */
  public static final DiskHeadroom UNCHECKED =
      new DiskHeadroom(1, 0, 0, List.of(), List.of(), DiskReserve.NONE, folder -> Optional.empty());

  public DiskHeadroom {
    workspaces = List.copyOf(workspaces);
    others = List.copyOf(others);
  }

  /**
   * Returns the current shortage, if any.
   *
   * @param starting the number of sandboxes that are being created
   */
  Optional<Shortage> currentShortage(Resources requested, int starting) {
    return problem(starting)
        .or(
            () ->
                workspaces.stream()
                    .flatMap(folder -> shortage(folder, requested, starting).stream())
                    .findFirst());
  }

  /** Returns why no sandbox can be created, however small it is. */
  public Optional<String> problem() {
    return problem(0).map(Shortage::message);
  }

  private Optional<Shortage> problem(int starting) {
    return reserve.isIncomplete()
        ? Optional.of(
            new Shortage(
                RESOURCE,
                "",
                "0",
                "the disk was full, and there is no space yet to fill up the reserve that"
                    + " destroying needs"))
        : Stream.concat(workspaces.stream(), others.stream())
            .flatMap(folder -> belowFloor(folder, starting).stream())
            .findFirst();
  }

  private Optional<Shortage> belowFloor(Path folder, int starting) {
    return spaces
        .apply(folder)
        .flatMap(
            space -> {
              if (freeMb(space, starting) < 0) {
                return Optional.of(
                    new Shortage(
                        RESOURCE,
                        floorMb(space) + "",
                        megabytes(space.freeBytes()) + "",
                        "the file system of "
                            + folder
                            + " has "
                            + megabytes(space.freeBytes())
                            + " MB free, and creates leave "
                            + floorMb(space)
                            + " MB (admission.min_free_disk_mb)"));
              }
              return space.freeInodes() - starting * STARTING_INODES < floorInodes(space)
                  ? Optional.of(
                      new Shortage(
                          RESOURCE,
                          floorInodes(space) + "",
                          space.freeInodes() + "",
                          "the file system of "
                              + folder
                              + " has "
                              + space.freeInodes()
                              + " inodes free, and creates leave "
                              + floorInodes(space)
                              + " (admission.min_free_inodes)"))
                  : Optional.empty();
            });
  }

  /** A disk is never larger than the file system that it is in, whatever its limit is. */
  private Optional<Shortage> shortage(Path folder, Resources requested, int starting) {
    return spaces
        .apply(folder)
        .flatMap(
            space -> {
              long limit = Math.min(requested.diskMb(), megabytes(space.bytes()));
              long needed = (long) Math.ceil(limit / overcommit);
              long free = freeMb(space, starting);
              return needed > free
                  ? Optional.of(
                      new Shortage(
                          RESOURCE,
                          needed + "",
                          free + "",
                          "the sandbox needs "
                              + needed
                              + " MB (its disk limit of "
                              + limit
                              + " MB divided by the overcommit factor "
                              + overcommit
                              + "), and the file system of "
                              + folder
                              + " has "
                              + free
                              + " MB free for sandboxes"))
                  : Optional.empty();
            });
  }

  private long freeMb(DiskSpace space, int starting) {
    return megabytes(space.freeBytes()) - floorMb(space) - starting * STARTING_MB;
  }

  private long floorMb(DiskSpace space) {
    return Math.min(floorMb, megabytes(space.bytes()) / SHARE);
  }

  private long floorInodes(DiskSpace space) {
    return Math.min(floorInodes, space.inodes() / SHARE);
  }

  private static long megabytes(long bytes) {
    return bytes >> 20;
  }
}

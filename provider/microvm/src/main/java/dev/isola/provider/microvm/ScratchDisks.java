package dev.isola.provider.microvm;

import dev.isola.host.launch.DiskImageCache;
import dev.isola.host.launch.DiskSize;
import dev.isola.host.launch.HostProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The disks to which machines write: empty file systems of the size that a client asks for. */
public final class ScratchDisks {
  private static final long MEGABYTE = 1 << 20;

  private final Path folder;
  private final DiskImageCache models;

  /**
   * @param folder where empty file systems are kept to be copied
   */
  public ScratchDisks(Path folder) {
    this.folder = folder;
    this.models = new DiskImageCache(folder);
  }

  /** Creates an empty disk. */
  public void create(MachineSize size, Path target) throws IOException {
    Files.createDirectories(folder);
    long host = Math.max(1, Files.getFileStore(folder).getTotalSpace() / MEGABYTE);
    copy(models.of(new DiskSize(Math.min(size.diskMb(), host), false)), target);
  }

  /** Copies a disk that no machine writes to at the moment. The copy is as sparse as it can be. */
  public static void copy(Path disk, Path target) throws IOException {
    HostProgram cp =
        HostProgram.find("cp").orElseThrow(() -> new IOException("cp is not installed"));
    HostProgram.Result result =
        cp.run("--reflink=auto", "--sparse=always", disk.toString(), target.toString());
    if (!result.ok()) {
      throw new IOException("the disk cannot be copied: " + result.text());
    }
  }
}

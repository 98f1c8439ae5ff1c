package dev.isola.provider.microvm;

import dev.isola.link.InstalledProgram;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Makes the kernel and the first root of machines, once per kernel and agent. */
public final class BootFiles {
  /**
   * What a machine boots.
   *
   * @param kernel the uncompressed kernel
   * @param initramfs the first root
   * @param identity a text that differs for another kernel or agent
   */
  public record Boot(Path kernel, Path initramfs, String identity) {}

  private final Path folder;
  private final Path installation;
  private final ProviderConfig config;
  private final InstalledProgram agent;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Boot ready;

  /**
   * @param folder where the files are kept
   * @param installation the folder that all providers share
   */
  public BootFiles(Path folder, ProviderConfig config, Path installation, InstalledProgram agent) {
    this.folder = folder;
    this.installation = installation;
    this.config = config;
    this.agent = agent;
  }

  /** Removes files that killed processes have left unfinished. */
  public void removeAbandoned() throws IOException {
    new CachedFiles(folder).removeAbandoned();
  }

  /** Returns the files, which are created on the first call. */
  public Boot files() throws IOException {
    Boot known = ready;
    if (known != null && Files.exists(known.kernel()) && Files.exists(known.initramfs())) {
      return known;
    }
    lock.lock();
    try {
      GuestKernel kernel = GuestKernel.require(config, installation);
      Path program = agent.path();
      String identity =
          ContentKey.of(
              kernel.image().toString(),
              ContentKey.fileIdentity(kernel.image()),
              ContentKey.fileIdentity(kernel.modules().resolve("modules.order")),
              ContentKey.contentOf(program));
      CachedFiles files = new CachedFiles(folder);
      Path unpacked =
          files.get("kernel-" + identity, target -> KernelImage.unpack(kernel.image(), target));
      Path first =
          files.get(
              "initramfs-" + identity,
              target -> Initramfs.write(target, program, KernelModules.of(kernel)));
      files.retain(2, "kernel-");
      files.retain(2, "initramfs-");
      Boot made = new Boot(unpacked, first, identity);
      ready = made;
      return made;
    } finally {
      lock.unlock();
    }
  }
}

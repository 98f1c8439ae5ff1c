package dev.isola.engine.lease;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The leases of an installation: one file for each sandbox that a process creates without a server,
 * as {@code isola run} does. The holder keeps the file locked. Reconciliation ignores a sandbox
 * while its lease is held and removes the sandbox when the holder has died.
 *
 * <p>All users of a data folder share its leases. The folder belongs to the owner of the data
 * folder, and its files are readable by every user with access to it, so that each of them can
 * check whether a lease of another user is held.
 */
public final class SandboxLeases {
  /**
   * The leases of this process. Their files must not be opened again, because closing a channel
   * releases all locks that the process holds on the file.
   */
  static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private static final int MAX_BYTES = 256;
  private static final Set<OpenOption> NEW =
      Set.of(
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  private static final FileAttribute<?> READABLE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--"));
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path folder;

  /**
   * @param data the data folder of the installation
   */
  public SandboxLeases(Path data) {
    this.folder = data.toAbsolutePath().normalize().resolve("leases");
  }

  /**
   * Acquires the lease of a sandbox that this process is about to create.
   *
   * @param provider the provider that creates it; {@link #recover} passes it on to the next process
   * @throws dev.isola.spi.error.ProviderUnavailable if the data folder cannot hold a lease
   */
  public SandboxLease acquire(SandboxId id, String provider) {
    Path file = folder.resolve(id.value());
    Path temporary = folder.resolve("." + id.value() + ".new");
    OWN.add(file);
    boolean taken = false;
    try {
      createFolder();
      FileChannel channel = FileChannel.open(temporary, NEW, READABLE);
      try {
        if (channel.tryLock() == null) {
          throw new IOException(temporary + " is locked by another process");
        }
        channel.write(UTF_8.encode(provider + "\n"));
        // Lock the file before renaming it: an unlocked file with the final name has no holder.
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        taken = true;
        return new SandboxLease(id, file, channel);
      } finally {
        if (!taken) {
          Files.deleteIfExists(temporary);
          channel.close();
        }
      }
    } catch (IOException e) {
      throw unusable(e);
    } finally {
      if (!taken) {
        OWN.remove(file);
      }
    }
  }

  /** Returns whether a live process holds the lease of this sandbox. */
  public boolean held(SandboxId id) {
    return held(folder.resolve(id.value()));
  }

  private boolean held(Path file) {
    if (OWN.contains(file)) {
      return true;
    }
    try (FileChannel channel = FileChannel.open(file, READ)) {
      return channel.tryLock(0, Long.MAX_VALUE, true) == null;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException unknown) {
      return true; // If in doubt, assume that the sandbox is in use.
    }
  }

  /** Returns the sandboxes with a held lease. */
  public Set<SandboxId> held() {
    Set<SandboxId> held = new HashSet<>();
    forEachLease(
        file -> {
          if (held(file)) {
            held.add(new SandboxId(file.getFileName().toString()));
          }
        });
    return held;
  }

  /** A lease whose holder died before it destroyed the sandbox. */
  public record LapsedLease(SandboxId id, String provider) {}

  /** Removes the sandbox of a process that died. */
  @FunctionalInterface
  public interface Removal {
    /** Returns true if nothing of the sandbox is left, so that the lease can be deleted. */
    boolean remove(LapsedLease lease);
  }

  /**
   * Passes every lapsed lease to {@code removal}, in one process at a time, and deletes the leases
   * whose sandboxes are gone.
   */
  public void recover(Removal removal) {
    forEachLease(file -> recover(file, removal));
  }

  private static void recover(Path file, Removal removal) {
    if (OWN.contains(file)) {
      return;
    }
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      if (channel.tryLock() != null
          && removal.remove(
              new LapsedLease(new SandboxId(file.getFileName().toString()), provider(channel)))) {
        Files.deleteIfExists(file);
      }
    } catch (IOException othersOrGone) {
      // The lease belongs to another user or was removed meanwhile.
    }
  }

  private static String provider(FileChannel channel) throws IOException {
    ByteBuffer text = ByteBuffer.allocate(MAX_BYTES);
    channel.read(text, 0);
    return UTF_8.decode(text.flip()).toString().strip();
  }

  private void forEachLease(Consumer<Path> action) {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(
            folder, file -> SandboxId.isValid(file.getFileName().toString()))) {
      files.forEach(action);
    } catch (NoSuchFileException noLease) {
      // No process has acquired a lease yet.
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Creates the folder. If root creates it in the data folder of another user, that user becomes
   * the owner and keeps access.
   */
  private void createFolder() throws IOException {
    if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try {
      Files.createDirectory(folder, OWNER_ONLY);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
      return;
    }
    Optional<Path> data = Optional.ofNullable(folder.getParent());
    if (data.isPresent() && !Files.getOwner(data.get()).equals(Files.getOwner(folder))) {
      Files.getFileAttributeView(folder, PosixFileAttributeView.class)
          .setOwner(Files.getOwner(data.get()));
    }
  }

  private SandboxException unusable(IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the sandbox leases in " + folder + " cannot be used: " + e,
            "check the permissions of the data folder, or choose another one with --data")
        .exception(e);
  }
}

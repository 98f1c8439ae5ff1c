package dev.isola.app.backup;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.instance.InstanceProcesses;
import dev.isola.app.serve.LedgerLocation;
import dev.isola.app.serve.SharedInstallation;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.reconcile.LedgerRestore;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.LedgerFiles;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Restores a backup into a data folder. Everything is extracted and checked before the first
 * change. The ledger comes last, so that a restore that failed can be repeated.
 *
 * <p>The result is a copy of the installation with an id of its own, so that it never acts on what
 * carries the id of the original, or it takes the place of the original.
 *
 * @param replace whether the result has the id of the original, and may replace its ledger
 */
record Restore(Config config, boolean replace, InstantSource clock) {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  /**
   * The result of a restore.
   *
   * @param createdAt when the backup was made
   * @param kept the volumes and images that existed and were not replaced
   */
  record Result(Instant createdAt, String instance, List<String> kept) {}

  Result from(Path archive) {
    if (!Files.isReadable(archive)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the backup " + archive + " cannot be read",
              "check its path")
          .exception();
    }
    DataFolder data = new DataFolder(config.get(ConfigKeys.DATA));
    LedgerConfig ledger = LedgerLocation.of(config, data);
    try {
      requireNoServer(ledger);
      try (StagingFolder staging = StagingFolder.create(data.createIfMissing(), ".restore-")) {
        TarProgram.extract(archive, staging.path());
        return install(staging.path(), archive, data.path(), ledger);
      }
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the backup cannot be restored to " + data.path() + ": " + IoErrors.describe(e),
              "check the free space and the permissions, and run the command again")
          .exception(e);
    }
  }

  private static void requireNoServer(LedgerConfig ledger) {
    if (ledger.location() instanceof LedgerConfig.Folder(Path folder)) {
      LedgerFiles.owner(folder)
          .ifPresent(
              pid -> {
                throw conflict(
                    "the server with pid " + pid + " uses the ledger in " + folder,
                    "stop it before the restore");
              });
    }
  }

  private Result install(Path staged, Path archive, Path data, LedgerConfig ledger)
      throws IOException {
    BackupManifest manifest = BackupManifest.read(staged, archive);
    if (replace) {
      requireOriginalPlace(data, manifest);
    } else {
      requireCopyPlace(data, manifest, ledger);
    }
    requireLedgerOf(manifest, ledger);
    String suffix = "before-restore-" + STAMP.format(clock.instant());
    Path ledgerCopy = staged.resolve(LedgerLocation.FOLDER);
    boolean hasLedger = Files.isDirectory(ledgerCopy);
    if (hasLedger) {
      prepareLedger(ledgerCopy, manifest, ledger);
    }
    SnapshotBlobs.of(config)
        .ifPresent(store -> addSnapshots(store, staged.resolve(BackupCommand.SNAPSHOTS)));
    List<String> kept = new ArrayList<>();
    for (String folder : BackupCommand.VOLUME_FOLDERS) {
      moveMissing(staged.resolve(folder), data.resolve(folder), "volume ", kept);
    }
    moveMissing(
        staged.resolve(BackupCommand.IMAGE_FOLDER),
        data.resolve(BackupCommand.IMAGE_FOLDER),
        "image ",
        kept);
    replaceFile(staged.resolve(BackupCommand.SECRETS_KEY), data, suffix);
    Path nextKey = data.resolve(BackupCommand.NEXT_SECRETS_KEY);
    if (Files.exists(nextKey)) { // of a rotation that the backup does not know
      Files.move(nextKey, nextKey.resolveSibling(nextKey.getFileName() + "." + suffix));
    }
    replaceFile(staged.resolve(BackupCommand.NEXT_SECRETS_KEY), data, suffix);
    if (replace) {
      replaceFile(staged.resolve(BackupCommand.INSTANCE), data, suffix);
    }
    InstanceId instance = new DataFolder(data).instance(); // a new one for a copy
    if (hasLedger && ledger.location() instanceof LedgerConfig.Folder(Path folder)) {
      LedgerFiles.install(folder, ledgerCopy, suffix);
    } else {
      try (Ledger server = Ledgers.open(ledger)) {
        LedgerRestore.prepare(server, manifest.createdAt(), clock.instant());
        SharedInstallation.replace(server, instance);
      }
    }
    return new Result(manifest.createdAt(), instance.value(), kept);
  }

  /** Changes the copy before it is moved, so that no server can start without the change. */
  private void prepareLedger(Path copy, BackupManifest manifest, LedgerConfig configured) {
    if (!(configured.location() instanceof LedgerConfig.Folder)) {
      throw conflict(
          "the backup has a SQLite ledger, and the configuration names PostgreSQL (store.url)",
          "restore with the configuration of the installation that was backed up");
    }
    LedgerFiles.check(copy);
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(copy))) {
      LedgerRestore.prepare(ledger, manifest.createdAt(), clock.instant());
    }
  }

  /** Refuses to take the place of an installation that lives, or the folder of another one. */
  private static void requireOriginalPlace(Path data, BackupManifest manifest) {
    Optional<InstanceId> existing = new DataFolder(data).existingInstance();
    if (existing.isPresent() && !existing.get().value().equals(manifest.instance())) {
      throw conflict(
          "the data folder "
              + data
              + " belongs to installation "
              + existing.get()
              + ", and the backup to "
              + manifest.instance(),
          "restore to another folder with --data");
    }
    InstanceProcesses.read()
        .users(new InstanceId(manifest.instance()))
        .forEach(
            pid -> {
              throw conflict(
                  "process "
                      + pid
                      + " (a server or another isola command) uses installation "
                      + manifest.instance()
                      + ", which the backup would replace",
                  "stop it first, or restore a copy to another folder without --replace");
            });
  }

  /** Refuses to make a copy in the place of an installation, or one that shares its snapshots. */
  private void requireCopyPlace(Path data, BackupManifest manifest, LedgerConfig ledger) {
    if (ledger.location() instanceof LedgerConfig.Folder(Path folder)
        && LedgerFiles.exists(folder)) {
      throw conflict(
          "there is already a ledger in " + folder,
          "add --replace to rename it, or restore to another folder with --data");
    }
    Optional<InstanceId> existing = new DataFolder(data).existingInstance();
    if (existing.isPresent() && existing.get().value().equals(manifest.instance())) {
      throw conflict(
          "the data folder " + data + " is that of the installation in the backup",
          "add --replace to restore in its place, or restore a copy to another folder with --data");
    }
    if (!manifest.snapshots().isEmpty()
        && manifest.snapshots().equals(config.get(ConfigKeys.SNAPSHOTS_PLACE))) {
      throw conflict(
          "a copy would share the snapshots in "
              + manifest.snapshots()
              + " with the installation in the backup, and remove what that one stored",
          "set snapshots.place to a copy of them, or add --replace to restore in its place");
    }
  }

  private static void requireLedgerOf(BackupManifest manifest, LedgerConfig ledger) {
    if (ledger.location() instanceof LedgerConfig.Folder) {
      return;
    }
    try (Ledger server = Ledgers.open(ledger)) {
      SharedInstallation.recorded(server)
          .filter(id -> !id.value().equals(manifest.instance()))
          .ifPresent(
              id -> {
                throw conflict(
                    "the ledger in PostgreSQL belongs to installation "
                        + id
                        + ", and the backup to "
                        + manifest.instance(),
                    "restore the ledger with pg_restore first, and name its database in store.url");
              });
    }
  }

  private static void addSnapshots(SnapshotBlobs store, Path staged) {
    try {
      store.add(staged);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the snapshots cannot be restored to " + store.folder() + ": " + IoErrors.describe(e),
              "check the free space and the permissions, and run the command again")
          .exception(e);
    }
  }

  private static void moveMissing(Path staged, Path target, String kind, List<String> kept)
      throws IOException {
    if (!Files.isDirectory(staged)) {
      return;
    }
    if (!Files.exists(target)) {
      Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
      return;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(staged)) {
      for (Path entry : entries) {
        Path place = target.resolve(entry.getFileName());
        if (Files.exists(place)) {
          kept.add(kind + entry.getFileName());
        } else {
          Files.move(entry, place, StandardCopyOption.ATOMIC_MOVE);
        }
      }
    }
  }

  /** Moves a small file into the data folder; a different one of that name is renamed. */
  private static void replaceFile(Path staged, Path data, String suffix) throws IOException {
    if (!Files.exists(staged)) {
      return;
    }
    Path target = data.resolve(staged.getFileName());
    if (Files.exists(target)) {
      if (Arrays.equals(Files.readAllBytes(target), Files.readAllBytes(staged))) {
        return;
      }
      Files.move(target, target.resolveSibling(target.getFileName() + "." + suffix));
    }
    Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
  }

  private static SandboxException conflict(String what, String remedy) {
    return Fault.of(ErrorCode.CONFLICT, what + "; nothing was changed", remedy).exception();
  }
}

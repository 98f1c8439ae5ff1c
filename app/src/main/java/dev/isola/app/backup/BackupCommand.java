package dev.isola.app.backup;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ConfigOptions;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.serve.LedgerLocation;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.secret.EncryptionKeys;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.LedgerConfig;
import dev.isola.store.LedgerFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola backup}. */
@Command(
    name = "backup",
    description = {
      "Back up an installation to a file, also while its server runs.",
      "The file contains API keys and secrets; only its owner can read it."
    })
public final class BackupCommand implements CliCommand {
  static final List<String> VOLUME_FOLDERS = List.of("volumes", "volume-disks");
  static final String IMAGE_FOLDER = "images";
  static final String INSTANCE = "instance";
  static final String SECRETS_KEY = EncryptionKeys.FILE;

  /** Exists while the server encrypts values with another key, or if it was interrupted. */
  static final String NEXT_SECRETS_KEY = SECRETS_KEY + ".new";

  static final String SNAPSHOTS = "snapshots";

  private final CommandContext context;

  @Parameters(paramLabel = "FILE", description = "The archive to write; it must not exist.")
  private String name = "";

  @Option(names = "--no-volumes", description = "Leave out the volumes of local providers.")
  private boolean noVolumes;

  @Option(names = "--images", description = "Include the images; they can also be built again.")
  private boolean images;

  @Mixin private final ConfigOptions configured = new ConfigOptions();

  public BackupCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Config config = configured.sources(context).readOrThrow();
    Path data = config.get(ConfigKeys.DATA);
    Path archive = Path.of(name).toAbsolutePath().normalize();
    if (!Files.exists(data.resolve(INSTANCE))) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no installation in " + data,
              "name its data folder with --data or ISOLA_DATA")
          .exception();
    }
    LedgerConfig.Location ledger = LedgerLocation.of(config, new DataFolder(data)).location();
    if (ledger instanceof LedgerConfig.Folder(Path folder) && !LedgerFiles.exists(folder)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no ledger in " + folder + ": no server has used the data folder " + data,
              "name the data folder of the server with --data or ISOLA_DATA, or its configuration"
                  + " with --config if the ledger is in PostgreSQL (store.url)")
          .exception();
    }
    if (Files.exists(archive)) {
      throw Fault.of(
              ErrorCode.CONFLICT, archive + " already exists", "name a file that does not exist")
          .exception();
    }
    try {
      report(write(config, data, ledger, archive), archive);
      config
          .get(ConfigKeys.SECRETS_KEY)
          .ifPresent(
              source ->
                  context
                      .console()
                      .printErr(
                          "the key of the secrets ("
                              + source
                              + ") is not in the file: back it up separately"));
    } catch (IOException e) {
      throw failed(archive, e);
    }
    return ExitCodes.OK;
  }

  /**
   * The result of a backup.
   *
   * @param unchanged whether no file of a volume changed while it was read
   */
  private record Contents(
      boolean ledger, Optional<Long> snapshots, List<String> folders, boolean unchanged) {}

  private Contents write(Config config, Path data, LedgerConfig.Location ledger, Path archive)
      throws IOException {
    try (StagingFolder staging = StagingFolder.create(data, ".backup-")) {
      // The time comes first: everything created later may be missing in the backup.
      new BackupManifest(
              Instant.now(),
              Files.readString(data.resolve(INSTANCE)).strip(),
              config.get(ConfigKeys.SNAPSHOTS_PLACE))
          .write(staging.path());
      List<String> staged = new ArrayList<>(List.of(BackupManifest.FILE));
      boolean hasLedger = false;
      Map<String, Bytes> keys = keys(data);
      if (ledger instanceof LedgerConfig.Folder(Path folder)) {
        LedgerFiles.copy(folder, staging.createFolder(LedgerLocation.FOLDER));
        staged.add(LedgerLocation.FOLDER + "/ledger.db");
        hasLedger = true;
      }
      if (!keys.equals(keys(data))) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the key of the secrets was replaced during the backup",
                "run the command again")
            .exception();
      }
      for (String small : List.of(INSTANCE, SECRETS_KEY, NEXT_SECRETS_KEY)) {
        if (Files.exists(data.resolve(small))) {
          Files.copy(
              data.resolve(small),
              staging.path().resolve(small),
              StandardCopyOption.COPY_ATTRIBUTES);
          staged.add(small);
        }
      }
      Optional<Long> snapshots = Optional.empty();
      Optional<SnapshotBlobs> store = SnapshotBlobs.of(config);
      if (store.isPresent()) {
        Path copy = staging.createFolder(SNAPSHOTS);
        store.get().copyTo(copy);
        snapshots = Optional.of(new SnapshotBlobs(copy).count());
        staged.add(SNAPSHOTS);
      }
      List<String> folders = folders(data);
      boolean unchanged =
          writeArchive(
              archive,
              List.of(
                  new TarProgram.Source(staging.path(), staged),
                  new TarProgram.Source(data, folders)));
      return new Contents(hasLedger, snapshots, folders, unchanged);
    }
  }

  /** Returns the keys that values in the ledger are encrypted with, by file. */
  private static Map<String, Bytes> keys(Path data) throws IOException {
    Map<String, Bytes> keys = new HashMap<>();
    for (String name : List.of(SECRETS_KEY, NEXT_SECRETS_KEY)) {
      if (Files.exists(data.resolve(name))) {
        keys.put(name, Bytes.of(Files.readAllBytes(data.resolve(name))));
      }
    }
    return keys;
  }

  private List<String> folders(Path data) {
    List<String> names = new ArrayList<>();
    if (!noVolumes) {
      names.addAll(VOLUME_FOLDERS);
    }
    if (images) {
      names.add(IMAGE_FOLDER);
    }
    names.removeIf(one -> !Files.isDirectory(data.resolve(one)));
    return names;
  }

  /**
   * Writes under a temporary name, so that an interrupted backup is not mistaken for a whole one.
   */
  private static boolean writeArchive(Path archive, List<TarProgram.Source> sources)
      throws IOException {
    Path part = archive.resolveSibling(archive.getFileName() + ".part");
    Files.deleteIfExists(part);
    Files.createFile(
        part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      boolean unchanged = TarProgram.create(part, sources);
      Files.move(part, archive, StandardCopyOption.ATOMIC_MOVE);
      return unchanged;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private void report(Contents contents, Path archive) throws IOException {
    Console console = context.console();
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("file", archive.toString());
      json.put("bytes", Files.size(archive));
      json.put("ledger", contents.ledger());
      contents.snapshots().ifPresent(count -> json.put("snapshots", count));
      json.put("folders", contents.folders());
      json.put("consistent", contents.unchanged());
      console.print(json);
      return;
    }
    List<String> parts = new ArrayList<>();
    if (contents.ledger()) {
      parts.add("the ledger with its API keys");
    }
    contents.snapshots().ifPresent(count -> parts.add("snapshots: " + count));
    parts.addAll(contents.folders());
    console.print(
        archive + ", " + Files.size(archive) + " bytes: " + String.join(", ", parts) + "\n");
    if (!contents.ledger()) {
      console.printErr("the ledger is in PostgreSQL: back it up with pg_dump now");
    }
    if (contents.snapshots().isEmpty()) {
      console.printErr("the snapshots are in a bucket and are not in the file");
    }
    if (!contents.unchanged()) {
      console.printErr(
          "isola: files of a volume changed while they were read; stop its sandboxes for a"
              + " consistent copy");
    }
  }

  private static SandboxException failed(Path archive, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the backup " + archive + " cannot be written: " + IoErrors.describe(e),
            "check the free space and the permissions")
        .exception(e);
  }
}

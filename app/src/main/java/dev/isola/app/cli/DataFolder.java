package dev.isola.app.cli;

import dev.isola.app.instance.InstanceClaim;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Folder with the state of an installation: the instance id and one folder per provider. */
public final class DataFolder {
  /** Folder of image builds without a server, in the data folder of the installation. */
  public static final String BUILDS = "builds";

  /** Folder of the private server of {@code microvmctl}, in that of the installation. */
  public static final String CONTROLLER = "controller";

  /** Folder of the servers of {@code isola mcp}, in that of the installation. */
  public static final String MCP = "mcp";

  /** The servers of {@code isola mcp} that can run at the same time. */
  public static final int MAX_MCP = 32;

  /** Other users may traverse the folder, to reach workspaces they own, but not list it. */
  private static final Set<PosixFilePermission> TRAVERSABLE =
      PosixFilePermissions.fromString("rwx--x--x");

  /** A provider that runs commands as other users widens these permissions itself. */
  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rwx------");

  private static final String SERVER_NAME = "server-name";

  private final Path path;
  private @Nullable InstanceId instance;

  public DataFolder(Path path) {
    this.path = path;
  }

  /**
   * Resolves the data folder from {@code --data}, the environment, or the default of the system, in
   * that order.
   */
  static DataFolder resolve(@Nullable String option, Map<String, String> env) {
    return new DataFolder(
        path(option, env, System.getProperty("user.name")).toAbsolutePath().normalize());
  }

  public static Path path(@Nullable String option, Map<String, String> env, String user) {
    if (option != null && !option.isEmpty()) {
      return Path.of(option);
    }
    String chosen = env.getOrDefault("ISOLA_DATA", "");
    if (!chosen.isEmpty()) {
      return Path.of(chosen);
    }
    if (user.equals("root")) {
      return Path.of("/var/lib/isola");
    }
    String state = env.getOrDefault("XDG_STATE_HOME", "");
    if (state.startsWith("/")) {
      return Path.of(state, "isola");
    }
    String home = env.getOrDefault("HOME", System.getProperty("user.home"));
    return Path.of(home, ".local", "state", "isola");
  }

  public Path path() {
    return path;
  }

  /** Returns the data folder of image builds without a server, which has an instance id too. */
  public DataFolder builds() {
    return new DataFolder(path.resolve(BUILDS));
  }

  /** Returns the data folder of the server of {@code microvmctl}, which has an instance id too. */
  public DataFolder controller() {
    return new DataFolder(path.resolve(CONTROLLER));
  }

  /** Returns the data folder of a server of {@code isola mcp}, which has an instance id too. */
  public DataFolder mcp(int number) {
    return new DataFolder(path.resolve(MCP).resolve(Integer.toString(number)));
  }

  /** Lets this installation use the images and the kernel of another one. */
  public DataFolder sharing(DataFolder other) {
    for (String name : List.of("images", "kernel")) {
      Path link = path.resolve(name);
      if (Files.isDirectory(other.path.resolve(name))
          && !Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
        createIfMissing();
        try {
          Files.createSymbolicLink(link, other.path.resolve(name));
        } catch (FileAlreadyExistsException another) {
          // Another process was faster.
        } catch (IOException e) {
          throw unusable(e);
        }
      }
    }
    return this;
  }

  /** Returns this folder and those within it that have an instance id of their own. */
  public List<DataFolder> installations() {
    return Stream.concat(
            Stream.of(this, builds(), controller()),
            IntStream.range(0, MAX_MCP)
                .mapToObj(this::mcp)
                .filter(folder -> Files.isDirectory(folder.path())))
        .toList();
  }

  /** Returns the folder, creating it if it does not exist. */
  public Path createIfMissing() {
    try {
      return ensure(path, TRAVERSABLE);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Returns the provider's folder, creating it if it does not exist. */
  public Path providerFolder(String provider) {
    try {
      Path folder = ensure(path, TRAVERSABLE);
      for (Path name : Path.of(provider)) {
        folder = ensure(folder.resolve(name), PRIVATE);
      }
      return folder;
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Returns the id of this installation. The first caller creates it; concurrent callers get the
   * same id.
   */
  public InstanceId instance() {
    InstanceId known = instance;
    if (known == null) {
      try {
        known = readOrCreate(ensure(path, TRAVERSABLE).resolve("instance"));
      } catch (IOException e) {
        throw unusable(e);
      }
      instance = known;
    }
    return known;
  }

  /** Shows other processes that this one uses the installation, until the result is closed. */
  public InstanceClaim claim() {
    InstanceId _ = instance(); // creates the file
    return InstanceClaim.open(path);
  }

  /** Returns the id of this installation if a process of it has run before. */
  public Optional<InstanceId> existingInstance() {
    try {
      return Optional.of(read(path.resolve("instance")));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Makes this folder one of an installation that has other folders, too.
   *
   * @throws dev.isola.spi.error.Conflict if it belongs to another installation
   */
  public void join(InstanceId installation) {
    try {
      Path folder = ensure(path, TRAVERSABLE);
      create(folder.resolve("instance"), installation.value());
      if (!read(folder.resolve("instance")).equals(installation)) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the data folder " + path + " belongs to another installation than the ledger",
                "use a new data folder for this server")
            .with("folder", path.toString())
            .exception();
      }
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Returns the name of the server of this folder, if it has shared its ledger before. */
  public Optional<String> serverName() {
    try {
      return Optional.of(Files.readString(path.resolve(SERVER_NAME)).strip());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Records the name of the server of this folder. */
  public void recordServerName(String name) {
    try {
      create(ensure(path, TRAVERSABLE).resolve(SERVER_NAME), name);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private static InstanceId readOrCreate(Path file) throws IOException {
    try {
      return read(file);
    } catch (NoSuchFileException e) {
      create(file, SandboxId.random(KernelRandom.open()).value());
      return read(file);
    }
  }

  /** Writes a file unless it exists. */
  private static void create(Path file, String text) throws IOException {
    // Creating a link is atomic and never replaces a file, so exactly one of two concurrent
    // processes wins.
    Path draft = Files.createTempFile(file.getParent(), "." + file.getFileName(), "");
    try {
      Files.writeString(draft, text + "\n");
      Files.createLink(file, draft);
    } catch (FileAlreadyExistsException other) {
      // Another process was faster, or it was there before.
    } finally {
      Files.delete(draft);
    }
  }

  private static InstanceId read(Path file) throws IOException {
    String text = Files.readString(file).strip();
    if (!SandboxId.isValid(text)) {
      throw new IOException(
          file + " does not contain an instance id; remove the file if no sandboxes are left");
    }
    return new InstanceId(text);
  }

  private static Path ensure(Path folder, Set<PosixFilePermission> permissions) throws IOException {
    if (!Files.isDirectory(folder)) {
      Path parent = folder.getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      FileAttribute<?> mode = PosixFilePermissions.asFileAttribute(permissions);
      try {
        Files.createDirectory(folder, mode);
      } catch (FileAlreadyExistsException e) {
        if (!Files.isDirectory(folder)) {
          throw e;
        }
      }
    }
    return folder;
  }

  private SandboxException unusable(IOException cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the data folder " + path + " cannot be used: " + IoErrors.describe(cause),
            "choose another folder with --data or ISOLA_DATA")
        .with("folder", path.toString())
        .exception(cause);
  }
}

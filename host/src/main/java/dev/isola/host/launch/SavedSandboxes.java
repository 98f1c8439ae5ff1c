package dev.isola.host.launch;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.Booter.SavedSandbox;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Saves running sandboxes: their processes, as the runtime writes them, and a copy of their files
 * with the ids they have inside. A saved sandbox is a folder named after the server process that
 * uses it, so that the next one removes it if that process was killed, at its first health check.
 */
final class SavedSandboxes {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** The process that uses it: pid and start time. */
  private static final Pattern NAME = Pattern.compile("(\\d+)-(\\d+)-[0-9a-f]+");

  private static final Duration TIMEOUT = Duration.ofSeconds(25);
  private static final String DONE = "done";
  private static final String FILES_ARCHIVE = "files.tar";
  private static final Pattern STORED_NAME =
      Pattern.compile("shape|secret|files\\.tar|memory/[A-Za-z0-9_.-]{1,64}");
  private static final Duration TAR_TIMEOUT = Duration.ofMinutes(10);

  /** The folders of a {@link WritableLayer} with files; others belong to overlays. */
  private static final List<String> PARTS =
      List.of("upper", "home", "root", "tmp", "vartmp", Workspace.NAME);

  private final Path folder;
  private final Launcher launcher;
  private final ForkStepListener steps;
  private final AtomicBoolean swept = new AtomicBoolean();

  /**
   * @param folder where they are; need not exist
   */
  SavedSandboxes(Path folder, Launcher launcher, ForkStepListener steps) {
    this.folder = folder;
    this.launcher = launcher;
    this.steps = steps;
  }

  /**
   * Saves a sandbox whose commands are frozen.
   *
   * @param provider its name, for messages
   */
  SavedSandbox save(
      String provider,
      Checkpoints checkpoints,
      SandboxRecord record,
      SandboxFolder source,
      SandboxUserIds users)
      throws IOException {
    removeAbandoned();
    SandboxId id = record.id();
    SandboxShape shape = SandboxShape.read(source);
    Optional<String> obstacle = shape.obstacle();
    if (obstacle.isPresent()) {
      throw Capability.unsupported(
          provider, "a fork of the processes of sandbox " + id + ", because " + obstacle.get());
    }
    Path saved = newFolder();
    try {
      Files.createDirectory(saved.resolve("memory"), OWNER_ONLY);
      Files.createDirectory(saved.resolve("files"), OWNER_ONLY);
      shape.write(saved);
      steps.reached(ForkStep.SAVE_STARTED);
      saveProcesses(checkpoints, id, source, saved);
      steps.reached(ForkStep.PROCESSES_SAVED);
      saveFiles(source, users, saved);
      steps.reached(ForkStep.FILES_SAVED);
      return new SavedSandbox(saved, record.secret());
    } catch (IOException | RuntimeException e) {
      new SandboxFolder(saved).remove();
      throw e;
    }
  }

  private Path newFolder() throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    long pid = ProcessHandle.current().pid();
    long start = AgentProcess.startTimeOf(pid).orElse(0L);
    return Files.createDirectory(
        folder.resolve(pid + "-" + start + "-" + HexFormat.of().formatHex(random)), OWNER_ONLY);
  }

  private void saveProcesses(
      Checkpoints checkpoints, SandboxId id, SandboxFolder source, Path saved) throws IOException {
    LaunchPlan plan =
        new LaunchPlan()
            .step("stage")
            .step("beside", Checkpoints.state(source).toString(), "state", "writable")
            .step("beside", saved.resolve("memory").toString(), "memory", "writable")
            .step("environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
    List<String> call = new ArrayList<>(checkpoints.saveCommand(id));
    call.addFirst("call");
    String answer = launcher.execute(plan.add(call).encode(), TIMEOUT);
    if (answer.equals(DONE)) {
      return;
    }
    Optional<String> obstacle = checkpoints.obstacle(answer);
    if (obstacle.isPresent()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "sandbox " + id + " cannot be saved: " + obstacle.get(),
              "close it, or request a fork of its files")
          .sandbox(id)
          .exception();
    }
    int stack = answer.indexOf(" goroutine "); // of a program in Go, after its message
    throw new IOException(
        answer.isEmpty()
            ? "the launcher exited without an answer"
            : answer.substring(0, stack < 0 ? answer.length() : stack));
  }

  /** The runtime has written all files to the host by now. */
  private void saveFiles(SandboxFolder source, SandboxUserIds users, Path saved)
      throws IOException {
    WritableLayer layer = new WritableLayer(source);
    LaunchPlan plan = new LaunchPlan();
    Disks.mount(plan, layer.image(), layer.path());
    Path spare = saved.resolve("spare");
    for (String part : parts(source)) {
      Path copy = saved.resolve("files").resolve(part);
      plan.step("make", copy.toString(), "700", "0", "0");
      fill(plan, copy, spare, "0", layer.resolve(part), users.root());
    }
    plan.step("remove", spare.toString());
    String answer = launcher.execute(plan.encode(), TIMEOUT);
    if (!answer.equals(DONE)) {
      throw new IOException(answer.isEmpty() ? "the launcher exited without an answer" : answer);
    }
  }

  private static List<String> parts(SandboxFolder sandbox) {
    boolean image = Files.exists(BootPlanner.imageFile(sandbox));
    return image
        ? List.of("upper", Workspace.NAME)
        : PARTS.stream().filter(part -> !part.equals("upper")).toList();
  }

  private static void fill(
      LaunchPlan plan, Path out, Path spare, String first, Path from, String fromFirst) {
    plan.step("fill", out.toString(), spare.toString(), first, from.toString(), fromFirst);
  }

  /**
   * Returns the plan that restores a sandbox.
   *
   * @param boot the plan that would boot it
   */
  LaunchPlan restorePlan(
      Checkpoints checkpoints,
      LaunchPlan boot,
      SandboxFolder sandbox,
      SandboxUserIds users,
      SavedSandbox saved)
      throws IOException {
    requireSameShape(sandbox, saved);
    WritableLayer layer = new WritableLayer(sandbox);
    LaunchPlan files = new LaunchPlan();
    for (String part : parts(sandbox)) {
      fill(
          files,
          layer.resolve(part),
          layer.resolve("spare"),
          users.root(),
          saved.folder().resolve("files").resolve(part),
          "0");
    }
    List<String> run = boot.find("run").orElseThrow();
    List<String> words =
        new ArrayList<>(checkpoints.restoreCommand(run.subList(1, run.size()), "/tmp/state/pid"));
    words.addFirst("run");
    LaunchPlan memory =
        new LaunchPlan()
            .step("beside", saved.folder().resolve("memory").toString(), "memory", "writable")
            .step("restored", Checkpoints.state(sandbox).resolve("pid").toString());
    return boot.insertBefore("stage", files).insertBefore("run", memory).replaceStep(words);
  }

  private static void requireSameShape(SandboxFolder sandbox, SavedSandbox saved)
      throws IOException {
    Optional<String> difference =
        SandboxShape.read(saved.folder()).difference(SandboxShape.read(sandbox));
    if (difference.isPresent()) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "a fork of memory must equal its source: " + difference.get(),
              "request a fork of the files, or the same spec")
          .exception();
    }
  }

  /**
   * Returns a saved sandbox as an archive. The files are an archive in it, because their owners and
   * the attributes of overlays could not be stored otherwise.
   */
  InputStream archive(SavedSandbox saved) throws IOException {
    Path files = saved.folder().resolve(FILES_ARCHIVE);
    tar(
        saved.folder(),
        List.of(
            "--create",
            "--file=" + files,
            "--format=posix",
            "--sparse",
            "--directory=" + saved.folder().resolve("files"),
            "."));
    Path secret = saved.folder().resolve("secret");
    Files.writeString(secret, HexFormat.of().formatHex(saved.secret().reveal()));
    List<TarStream.Item> items = new ArrayList<>();
    for (Path file : List.of(saved.folder().resolve("shape"), secret, files)) {
      items.add(new SavedFile(file.getFileName().toString(), file));
    }
    try (DirectoryStream<Path> memory =
        Files.newDirectoryStream(saved.folder().resolve("memory"))) {
      for (Path file : memory) {
        items.add(new SavedFile("memory/" + file.getFileName(), file));
      }
    }
    return new TarStream(items.iterator());
  }

  /** A file of a saved sandbox. */
  private record SavedFile(String name, Path file) implements TarStream.Item {
    @Override
    public TarEntry entry() {
      return new TarEntry(name, TarEntry.Kind.FILE, "", 0600, 0, 0, size(), 0, 0, Map.of());
    }

    private long size() {
      try {
        return Files.size(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public InputStream content() throws IOException {
      return Files.newInputStream(file);
    }
  }

  /** Runs tar, for which the launcher need not do anything. */
  private static void tar(Path folder, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("tar", "--numeric-owner", "--xattrs"));
    command.add("--xattrs-include=*");
    command.addAll(arguments);
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .start();
    try {
      if (!process.waitFor(TAR_TIMEOUT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("tar failed: " + Files.readString(output).strip());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("tar was interrupted", e);
    } finally {
      process.destroyForcibly();
      Files.deleteIfExists(output);
    }
  }

  /** Restores the result of {@link #archive}. */
  SavedSandbox open(InputStream archive) throws IOException {
    removeAbandoned();
    Path saved = newFolder();
    try {
      Files.createDirectory(saved.resolve("memory"), OWNER_ONLY);
      Files.createDirectory(saved.resolve("files"), OWNER_ONLY);
      TarReader reader = new TarReader(archive, (what, about) -> damaged(what + " " + about));
      for (Optional<TarEntry> entry = reader.next(); entry.isPresent(); entry = reader.next()) {
        String name = entry.get().path();
        if (entry.get().kind() == TarEntry.Kind.FOLDER) {
          continue;
        }
        if (entry.get().kind() != TarEntry.Kind.FILE || !STORED_NAME.matcher(name).matches()) {
          throw damaged("it contains " + name);
        }
        Files.copy(reader.content(), saved.resolve(name));
      }
      Secret secret = secret(saved);
      tar(
          saved,
          List.of(
              "--extract",
              "--same-owner",
              "--same-permissions",
              "--file=" + saved.resolve(FILES_ARCHIVE),
              "--directory=" + saved.resolve("files")));
      Files.delete(saved.resolve(FILES_ARCHIVE));
      return new SavedSandbox(saved, secret);
    } catch (IOException | RuntimeException e) {
      new SandboxFolder(saved).remove();
      throw e;
    }
  }

  private static Secret secret(Path saved) throws IOException {
    Path file = saved.resolve("secret");
    if (!Files.exists(file)
        || !Files.exists(saved.resolve("shape"))
        || !Files.exists(saved.resolve(FILES_ARCHIVE))) {
      throw damaged("it is incomplete");
    }
    try {
      return Secret.of(HexFormat.of().parseHex(Files.readString(file)));
    } catch (IllegalArgumentException e) {
      throw damaged("its secret is invalid");
    }
  }

  private static SandboxException damaged(String problem) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the stored sandbox is damaged: " + problem,
            "create it from another snapshot")
        .exception();
  }

  void discard(SavedSandbox saved) throws IOException {
    new SandboxFolder(saved.folder()).remove();
  }

  /** Removes what server processes have left that were killed. Does nothing after it succeeded. */
  void removeAbandoned() throws IOException {
    if (!swept.compareAndSet(false, true)) {
      return;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
      for (Path one : all) {
        Matcher name = NAME.matcher(one.getFileName().toString());
        if (name.matches() && !isAlive(name)) {
          new SandboxFolder(one).remove();
        }
      }
    } catch (NoSuchFileException none) {
      // No sandbox was saved.
    } catch (IOException | RuntimeException e) {
      swept.set(false);
      throw e;
    }
  }

  private static boolean isAlive(Matcher name) {
    return new AgentProcess(Long.parseLong(name.group(1)), Long.parseLong(name.group(2)), false)
        .isAlive();
  }
}

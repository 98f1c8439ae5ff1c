package dev.isola.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The tools that engine snapshots are compared with. */
final class SnapshotPeers {
  private SnapshotPeers() {}

  static List<SnapshotBenchmarks.SnapshotTool> of(
      BenchEnvironment environment, BenchPlan plan, SnapshotTree tree)
      throws IOException, InterruptedException {
    List<SnapshotBenchmarks.SnapshotTool> tools = new ArrayList<>();
    if (environment.isEnabled("tar") && LocalProgram.isInstalled("zstd")) {
      tools.add(new Tar(environment.folder().resolve("snapshot-tar"), tree));
    }
    if (environment.isEnabled("restic")) {
      tools.add(new Restic(environment.folder().resolve("snapshot-restic"), tree));
    }
    if (plan.against().contains("docker")) {
      try {
        tools.add(Docker.open(plan.engines(), tree));
      } catch (IOException e) {
        environment.skipped().add(new SkippedSubject("docker", String.valueOf(e.getMessage())));
      }
    }
    return tools;
  }

  private static void shell(Path folder, String script) throws IOException, InterruptedException {
    LocalProgram.output(List.of("sh", "-ec", "cd '" + folder + "'; " + script));
  }

  /** {@code tar | zstd} to a file. */
  private static final class Tar implements SnapshotBenchmarks.SnapshotTool {
    private final Path folder;
    private final SnapshotTree tree;
    private int made;

    Tar(Path folder, SnapshotTree tree) throws IOException {
      this.folder = Files.createDirectories(folder);
      this.tree = tree;
    }

    @Override
    public String name() {
      return "tar";
    }

    @Override
    public BytesMoved captureFull() throws IOException, InterruptedException {
      return captureChanged();
    }

    @Override
    public void discard() {}

    @Override
    public void change(String script) throws IOException, InterruptedException {
      shell(tree.folder(), script);
    }

    @Override
    public BytesMoved captureChanged() throws IOException, InterruptedException {
      shell(
          folder, "tar cf - -C '" + tree.folder() + "' . | zstd -q -3 -f -o archive; sync archive");
      return new BytesMoved(Files.size(folder.resolve("archive")), OptionalLong.of(tree.bytes()));
    }

    @Override
    public void restore() throws IOException, InterruptedException {
      unpack();
    }

    private void unpack() throws IOException, InterruptedException {
      String name = "copy" + ++made;
      shell(folder, "mkdir " + name + "; zstd -dcq archive | tar xf - -C " + name);
    }

    @Override
    public void forkTen() throws IOException, InterruptedException {
      captureChanged();
      for (int i = 0; i < 10; i++) {
        unpack();
      }
    }

    @Override
    public void cleanUp() throws IOException, InterruptedException {
      shell(folder, "rm -rf copy*");
    }

    @Override
    public void close() {}
  }

  /** {@code restic} to a local repository. */
  private static final class Restic implements SnapshotBenchmarks.SnapshotTool {
    private static final Map<String, String> PASSWORD = Map.of("RESTIC_PASSWORD", "bench");
    private static final Pattern PACKED = Pattern.compile("\"data_added_packed\":(\\d+)");
    private static final Pattern ADDED = Pattern.compile("\"data_added\":(\\d+)");

    private final Path folder;
    private final SnapshotTree tree;
    private int made;

    Restic(Path folder, SnapshotTree tree) throws IOException {
      this.folder = Files.createDirectories(folder);
      this.tree = tree;
    }

    @Override
    public String name() {
      return "restic";
    }

    private String restic(String... arguments) throws IOException, InterruptedException {
      List<String> all =
          new ArrayList<>(
              List.of("restic", "-q", "--no-cache", "-r", folder.resolve("repo").toString()));
      all.addAll(List.of(arguments));
      return LocalProgram.output(PASSWORD, all);
    }

    @Override
    public void discard() throws IOException, InterruptedException {
      shell(folder, "rm -rf repo");
      restic("init");
    }

    @Override
    public BytesMoved captureFull() throws IOException, InterruptedException {
      return captureChanged();
    }

    @Override
    public void change(String script) throws IOException, InterruptedException {
      shell(tree.folder(), script);
    }

    @Override
    public BytesMoved captureChanged() throws IOException, InterruptedException {
      String printed = restic("--json", "backup", tree.folder().toString());
      Matcher packed = PACKED.matcher(printed);
      Matcher added = ADDED.matcher(printed);
      boolean reported = packed.find() || added.find();
      String bytes = !reported ? "0" : packed.reset().find() ? packed.group(1) : added.group(1);
      return new BytesMoved(Long.parseLong(bytes), OptionalLong.empty());
    }

    @Override
    public void restore() throws IOException, InterruptedException {
      restic("restore", "latest", "--target", folder.resolve("copy" + ++made).toString());
    }

    @Override
    public void forkTen() throws IOException, InterruptedException {
      captureChanged();
      for (int i = 0; i < 10; i++) {
        restore();
      }
    }

    @Override
    public void cleanUp() throws IOException, InterruptedException {
      shell(folder, "rm -rf copy*");
    }

    @Override
    public void close() {}
  }

  /** {@code docker commit} of a container with the tree in its writable layer. */
  private static final class Docker implements SnapshotBenchmarks.SnapshotTool {
    private static final String IMAGE = "isola-bench-snapshot";

    private final Map<String, String> host;
    private final List<String> containers = new ArrayList<>();
    private final String source;
    private @Nullable String kept;

    private Docker(Map<String, String> host, String source) {
      this.host = host;
      this.source = source;
    }

    static Docker open(BenchPlan.Engines engines, SnapshotTree tree)
        throws IOException, InterruptedException {
      Map<String, String> host = Map.of("DOCKER_HOST", engines.docker());
      LocalProgram.requireInstalled("docker");
      String id =
          LocalProgram.output(
                  host,
                  List.of(
                      "docker", "run", "-d", "--network=none", engines.image(), "sleep", "36000"))
              .strip();
      LocalProgram.output(host, List.of("docker", "cp", tree.folder() + "/.", id + ":/tree"));
      return new Docker(host, id);
    }

    private String docker(String... arguments) throws IOException, InterruptedException {
      List<String> all = new ArrayList<>(List.of("docker"));
      all.addAll(List.of(arguments));
      return LocalProgram.output(host, all).strip();
    }

    @Override
    public String name() {
      return "docker";
    }

    @Override
    public void discard() throws IOException, InterruptedException {
      if (kept != null) {
        docker("rmi", "-f", kept);
        kept = null;
      }
    }

    @Override
    public BytesMoved captureFull() throws IOException, InterruptedException {
      return captureChanged();
    }

    @Override
    public void change(String script) throws IOException, InterruptedException {
      docker("exec", "-w", "/tree", source, "sh", "-ec", script);
      discard(); // Removes the previous image, untimed, so that images do not fill the disk.
    }

    @Override
    public BytesMoved captureChanged() throws IOException, InterruptedException {
      kept = docker("commit", source, IMAGE);
      String sizes = docker("history", "--human=false", "--format", "{{.Size}}", kept);
      return new BytesMoved(
          Long.parseLong(sizes.lines().findFirst().orElse("0")), OptionalLong.empty());
    }

    @Override
    public void restore() throws IOException, InterruptedException {
      containers.add(docker("run", "-d", "--network=none", IMAGE, "sleep", "36000"));
      docker("exec", containers.getLast(), "test", "-e", "/tree/large/f0");
    }

    @Override
    public void forkTen() throws IOException, InterruptedException {
      captureChanged();
      for (int i = 0; i < 10; i++) {
        restore();
      }
    }

    @Override
    public void cleanUp() throws IOException, InterruptedException {
      for (String container : containers) {
        docker("rm", "-f", container);
      }
      containers.clear();
    }

    @Override
    public void close() {
      containers.add(source);
      List<String> all = new ArrayList<>(List.of("docker", "rm", "-f"));
      all.addAll(containers);
      LocalProgram.cleanUp(host, all);
      LocalProgram.cleanUp(host, List.of("docker", "rmi", "-f", IMAGE));
    }
  }
}

package dev.isola.bench;

import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Uploads a tree of small files to a sandbox, and downloads one. Each round uses new folders and
 * nothing is removed before the end: ext4 skips recently freed inodes one by one, so a removal
 * would slow down the next subject.
 */
final class TreeBenchmarks {
  private static final String REMOTE_NAME = "isola-bench-tree";
  private static final int N = 5;
  private static final int FOLDERS = 100;
  private static final int FILE_SIZE = 1024;

  private final BenchEnvironment environment;
  private final BenchPlan plan;
  private final Path source;
  private final AtomicInteger round = new AtomicInteger();
  private final Map<String, String> uploaded = new HashMap<>();

  private TreeBenchmarks(BenchEnvironment environment, BenchPlan plan) {
    this.environment = environment;
    this.plan = plan;
    this.source = environment.folder().resolve("tree");
  }

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) throws IOException {
    if (!LocalProgram.isInstalled("tar")) {
      return List.of(); // Both ends need tar, which is reported as skipped.
    }
    TreeBenchmarks events = new TreeBenchmarks(environment, plan);
    events.makeSource();
    return List.of(events.in(), events.out());
  }

  private void makeSource() throws IOException {
    Random random = new Random(2);
    byte[] content = new byte[FILE_SIZE];
    for (int i = 0; i < plan.sizes().files(); i++) {
      Path folder = source.resolve("folder" + i % FOLDERS);
      Files.createDirectories(folder);
      random.nextBytes(content);
      Files.write(folder.resolve("file" + i), content);
    }
  }

  private Benchmark in() {
    List<BenchSubject> subjects = comparators();
    for (BenchProvider benchProvider : environment.providers()) {
      FileSystem files = benchProvider.sandbox().files();
      subjects.add(BenchSubject.timed(benchProvider.name(), () -> upload(files)));
    }
    subjects.addAll(environment.dockerCopySubjects(docker -> docker.treeUploadSubject(source)));
    return event("tree-in", subjects);
  }

  /** Returns the path in the sandbox. */
  private String upload(FileSystem files) throws IOException, InterruptedException {
    String there = REMOTE_NAME + round.incrementAndGet();
    Process tar = pack();
    try (InputStream archive = tar.getInputStream()) {
      TreeSummary summary = files.importTree(there, archive, TreeLimits.DEFAULT);
      if (summary.bytes() != (long) plan.sizes().files() * FILE_SIZE) {
        throw new IOException("only " + summary + " arrived");
      }
    }
    LocalProgram.await(tar);
    return there;
  }

  private Benchmark out() {
    List<BenchSubject> subjects = comparators();
    for (BenchProvider benchProvider : environment.providers()) {
      FileSystem files = benchProvider.sandbox().files();
      subjects.add(
          new BenchSubject(
              benchProvider.name(),
              (n, concurrency) -> {
                String there = once(benchProvider.name(), files);
                return Parallel.run(() -> download(files, there), n, concurrency);
              }));
    }
    subjects.addAll(
        environment.dockerCopySubjects(
            docker -> docker.treeDownloadSubject(source, this::makeTarget)));
    return event("tree-out", subjects);
  }

  /** Uploads the tree to read once; the source of {@code tar} is created once too. */
  private String once(String benchProvider, FileSystem files)
      throws IOException, InterruptedException {
    String there = uploaded.get(benchProvider);
    if (there == null) {
      there = upload(files);
      uploaded.put(benchProvider, there);
    }
    return there;
  }

  private void download(FileSystem files, String there) throws IOException, InterruptedException {
    Process tar = new ProcessBuilder(unpack()).redirectErrorStream(true).start();
    try (InputStream archive = files.exportTree(there, List.of());
        OutputStream in = tar.getOutputStream()) {
      archive.transferTo(in);
    }
    LocalProgram.await(tar);
  }

  private List<BenchSubject> comparators() {
    List<BenchSubject> subjects = new ArrayList<>();
    if (environment.isEnabled("tar")) {
      subjects.add(BenchSubject.timed("tar", this::tarToTar));
    }
    return subjects;
  }

  private void tarToTar() throws IOException, InterruptedException {
    for (Process tar :
        ProcessBuilder.startPipeline(
            List.of(
                new ProcessBuilder("tar", "cf", "-", "-C", source.toString(), "."),
                new ProcessBuilder(unpack())))) {
      LocalProgram.await(tar);
    }
  }

  private Process pack() throws IOException {
    return new ProcessBuilder("tar", "cf", "-", "-C", source.toString(), ".")
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private List<String> unpack() throws IOException {
    return List.of("tar", "xf", "-", "-C", makeTarget().toString());
  }

  private Path makeTarget() throws IOException {
    return Files.createDirectories(
        environment.folder().resolve("tree-target" + round.incrementAndGet()));
  }

  private Benchmark event(String name, List<BenchSubject> subjects) {
    return new Benchmark(name, "tar", 1, plan.n().orElse(N), 2, plan.sizes().files(), subjects);
  }
}

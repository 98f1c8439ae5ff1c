package dev.isola.bench;

import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Uploads one large file to a sandbox, and downloads one. */
final class FileBenchmarks {
  private static final String REMOTE_NAME = "isola-bench-file";
  private static final int N = 5;

  private final BenchEnvironment environment;
  private final BenchPlan plan;
  private final Path source;
  private final Path target;
  private final Set<String> uploaded = new HashSet<>();

  private FileBenchmarks(BenchEnvironment environment, BenchPlan plan) {
    this.environment = environment;
    this.plan = plan;
    this.source = environment.folder().resolve("source");
    this.target = environment.folder().resolve("target");
  }

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan) throws IOException {
    FileBenchmarks events = new FileBenchmarks(environment, plan);
    events.makeSource();
    return List.of(events.write(), events.read());
  }

  private void makeSource() throws IOException {
    byte[] block = new byte[1 << 20];
    new Random(1).nextBytes(block);
    try (OutputStream out = new FileOutputStream(source.toFile())) {
      for (long left = plan.sizes().bytes(); left > 0; left -= block.length) {
        out.write(block, 0, (int) Math.min(left, block.length));
      }
    }
  }

  private Benchmark write() {
    List<BenchSubject> subjects = comparators();
    for (BenchProvider benchProvider : environment.providers()) {
      FileSystem files = benchProvider.sandbox().files();
      subjects.add(
          BenchSubject.timed(
              benchProvider.name(), () -> upload(files), () -> files.remove(REMOTE_NAME, false)));
    }
    subjects.addAll(
        environment.dockerCopySubjects(docker -> docker.copySubject(source, target, true)));
    return event("files-write", subjects);
  }

  private void upload(FileSystem files) throws IOException {
    try (InputStream in = new FileInputStream(source.toFile())) {
      files.write(REMOTE_NAME, in, WriteOptions.DEFAULT);
    }
  }

  private Benchmark read() {
    List<BenchSubject> subjects = comparators();
    for (BenchProvider benchProvider : environment.providers()) {
      FileSystem files = benchProvider.sandbox().files();
      subjects.add(
          new BenchSubject(
              benchProvider.name(),
              (n, concurrency) -> {
                uploadOnce(benchProvider);
                return BenchSubject.timed(benchProvider.name(), () -> download(files), this::clear)
                    .work()
                    .run(n, concurrency);
              }));
    }
    subjects.addAll(
        environment.dockerCopySubjects(docker -> docker.copySubject(source, target, false)));
    return event("files-read", subjects);
  }

  /** Uploads the file before the first round and keeps it there, as the source of cp stays too. */
  private void uploadOnce(BenchProvider benchProvider) throws IOException {
    if (uploaded.add(benchProvider.name())) {
      upload(benchProvider.sandbox().files());
    }
  }

  private void download(FileSystem files) throws IOException {
    try (InputStream in = files.read(REMOTE_NAME, ReadRange.ALL);
        OutputStream out = new FileOutputStream(target.toFile())) {
      in.transferTo(out);
    }
    if (Files.size(target) != plan.sizes().bytes()) {
      throw new IOException("only " + Files.size(target) + " bytes were read");
    }
  }

  private List<BenchSubject> comparators() {
    List<BenchSubject> subjects = new ArrayList<>();
    if (environment.isEnabled("cp")) {
      subjects.add(
          BenchSubject.timed(
              "cp",
              () -> LocalProgram.run("cp", source.toString(), target.toString()),
              this::clear));
    }
    environment
        .raw()
        .ifPresent(
            raw ->
                subjects.add(
                    new BenchSubject(
                        "raw",
                        (n, concurrency) -> {
                          Samples samples = Samples.NONE;
                          for (int i = 0; i < n; i++) {
                            samples =
                                samples.plus(raw.run("copy", source.toString(), target.toString()));
                            clear();
                          }
                          return samples;
                        })));
    return subjects;
  }

  private void clear() throws IOException {
    Files.deleteIfExists(target);
  }

  private Benchmark event(String name, List<BenchSubject> subjects) {
    return new Benchmark(name, "cp", 1, plan.n().orElse(N), 1, plan.sizes().bytes(), subjects);
  }
}

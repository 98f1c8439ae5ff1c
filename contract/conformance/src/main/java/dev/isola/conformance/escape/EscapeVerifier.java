package dev.isola.conformance.escape;

import dev.isola.conformance.condition.Condition;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Verifies the result of an attempt from the host. Where the host can observe the effect, it
 * overrides the output of the probe program. Create it before the attempt and call {@link #verify}
 * after it.
 */
public final class EscapeVerifier {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final int SETUID = 04000;

  private final EscapeProbe probe;
  private final ProbeContext host;
  private final List<String> arguments;
  private final Path folder;
  private final Optional<String> before;

  /**
   * Records the state that the attempt may change.
   *
   * @param host the targets on the host
   * @param arguments the arguments of the probe program
   * @param folder the host folder that holds the files of the sandbox
   */
  public EscapeVerifier(EscapeProbe probe, ProbeContext host, List<String> arguments, Path folder) {
    this.probe = probe;
    this.host = host;
    this.arguments = arguments;
    this.folder = folder;
    this.before = probe.evidence() == EscapeProbe.Evidence.FILE ? content() : Optional.empty();
  }

  /**
   * Returns the verified result.
   *
   * @param alive whether the sandbox still responds
   */
  public ProbeResult verify(ProbeResult reported, boolean alive) throws IOException {
    boolean escaped =
        switch (probe.evidence()) {
          case OUTPUT -> reported.escaped();
          case FILE -> !content().equals(before);
          case PROCESS -> isKilled(reported);
          case SANDBOX -> !alive || isKilled(reported);
          case SETUID -> containsSetuidRootFile();
        };
    if (escaped == reported.escaped()) {
      return reported;
    }
    return escaped
        ? ProbeResult.got("the host observed the effect, although the program printed " + reported)
        : ProbeResult.refused(
            "the host observed no effect, although the program printed " + reported);
  }

  private Optional<String> content() {
    return TargetFiles.content(arguments.get(1));
  }

  /** Waits, because a killed process may not be gone immediately. */
  private boolean isKilled(ProbeResult reported) {
    Path process = Path.of("/proc", host.one("pid"));
    Duration timeout = reported.escaped() ? TIMEOUT : Duration.ZERO;
    return Condition.holdsWithin(timeout, () -> !Files.exists(process));
  }

  private boolean containsSetuidRootFile() throws IOException {
    AtomicBoolean found = new AtomicBoolean();
    String name = arguments.get(1);
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes ignored) {
            Path last = file.getFileName();
            if (last != null && last.toString().startsWith(name) && isSetuidRootFile(file)) {
              found.set(true);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
    return found.get();
  }

  private static boolean isSetuidRootFile(Path file) {
    try {
      return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(0)
          && Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS)
              instanceof Integer mode
          && (mode & SETUID) != 0;
    } catch (IOException e) {
      return false;
    }
  }
}

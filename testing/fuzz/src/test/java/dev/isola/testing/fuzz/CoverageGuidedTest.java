package dev.isola.testing.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Fuzzes each target with Jazzer, which changes inputs of the corpus and keeps those that reach new
 * code, for {@code isola.fuzz.seconds}. {@code isola.fuzz.targets} names some of the targets, as
 * {@code json,tar}. An input that fails is left in {@code target/fuzz}.
 */
@Tag("long")
class CoverageGuidedTest {
  private static final String SECONDS = System.getProperty("isola.fuzz.seconds", "60");

  private static List<FuzzTarget> targets() {
    String some = System.getProperty("isola.fuzz.targets", "");
    return some.isEmpty()
        ? List.of(FuzzTarget.values())
        : Arrays.stream(some.split(",", -1)).map(FuzzTarget::named).toList();
  }

  @ParameterizedTest
  @MethodSource("targets")
  void noInputFails(FuzzTarget target) throws Exception {
    Path folder = Path.of(System.getProperty("basedir", "")).resolve("target/fuzz");
    Path kept = Files.createDirectories(folder.resolve(target.corpus().getFileName()));
    Path output = folder.resolve(target.corpus().getFileName() + ".log");
    Process fuzzer =
        new ProcessBuilder(command(target, folder, kept))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      int status = fuzzer.waitFor();
      String log = Files.readString(output, StandardCharsets.ISO_8859_1);
      System.out.println(log.substring(Math.max(0, log.length() - 2_000)));
      assertThat(status)
          .as(() -> target + ": " + log.substring(Math.max(0, log.length() - 8_000)))
          .isZero();
    } finally {
      fuzzer.destroyForcibly();
    }
  }

  private static List<String> command(FuzzTarget target, Path folder, Path kept) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Arrays.asList("-Xmx1g", "--enable-native-access=ALL-UNNAMED"));
    command.add("-XX:+EnableDynamicAgentLoading");
    command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path")));
    command.add("com.code_intelligence.jazzer.Jazzer");
    command.add("--target_class=" + target.type().getName());
    command.add("--instrumentation_includes=dev.isola.**");
    command.add("--reproducer_path=" + folder);
    command.add("-max_total_time=" + SECONDS);
    command.add("-max_len=8192");
    command.add("-timeout=60");
    command.add("-rss_limit_mb=3072");
    command.add("-artifact_prefix=" + folder + "/" + kept.getFileName() + "-");
    command.add(kept.toString());
    command.add(target.corpus().toString());
    return command;
  }
}

package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Every package of the SPI is annotated with NullMarked. */
class NullMarkedTest {

  @Test
  void everyPackageIsNullMarked() throws IOException, URISyntaxException, ClassNotFoundException {
    Path classes =
        Path.of(SandboxId.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<String> packages = new TreeSet<>();
    try (Stream<Path> files = Files.walk(classes)) {
      List<Path> compiled = files.filter(file -> file.toString().endsWith(".class")).toList();
      compiled.forEach(
          file ->
              packages.add(
                  Objects.requireNonNull(classes.relativize(file).getParent())
                      .toString()
                      .replace('/', '.')));
    }

    assertThat(packages).contains("dev.isola.spi", "dev.isola.spi.spec");
    for (String name : packages) {
      assertThat(Class.forName(name + ".package-info").isAnnotationPresent(NullMarked.class))
          .as(name)
          .isTrue();
    }
  }
}

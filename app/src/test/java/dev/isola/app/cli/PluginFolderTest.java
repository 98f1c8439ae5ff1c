package dev.isola.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Providers in jars of a folder, which are compiled here as their authors would compile them. */
final class PluginFolderTest {
  private static final String SERVICES = "META-INF/services/" + ProviderFactory.class.getName();

  @TempDir Path folder;

  private static List<String> names(Optional<Path> plugins) {
    return ServiceLoader.load(ProviderFactory.class, PluginFolder.classLoader(plugins)).stream()
        .map(found -> found.type().getName())
        .toList();
  }

  private void compilePlugin(Path jar) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Assumptions.assumeTrue(compiler != null, "NOT RUN: the tests do not run on a JDK");
    Path source =
        Files.writeString(
            folder.resolve("Ours.java"),
            """
            public final class Ours implements dev.isola.spi.provider.ProviderFactory {
              public String name() { return "ours"; }
              public dev.isola.spi.provider.Provider create(
                  dev.isola.spi.provider.ProviderConfig c, dev.isola.spi.provider.ProviderContext x) {
                throw new UnsupportedOperationException();
              }
            }
            """);
    int status =
        compiler.run(
            null,
            null,
            null,
            "-proc:none",
            "-cp",
            System.getProperty("java.class.path"),
            "-d",
            folder.toString(),
            source.toString());
    assertThat(status).isZero();
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file)) {
      out.putNextEntry(new JarEntry("Ours.class"));
      out.write(Files.readAllBytes(folder.resolve("Ours.class")));
      out.putNextEntry(new JarEntry(SERVICES));
      out.write("Ours\n".getBytes(UTF_8));
    }
  }

  @Test
  void jarInTheFolderIsFoundAfterOurOwn() throws Exception {
    Path plugins = Files.createDirectory(folder.resolve("plugins"));
    compilePlugin(plugins.resolve("ours.jar"));
    List<String> without = names(Optional.empty());
    assertThat(names(Optional.of(plugins)))
        .startsWith(without.toArray(String[]::new))
        .endsWith("Ours");
    assertThat(without).doesNotContain("Ours").isNotEmpty();
  }

  @Test
  void folderWithoutJarsChangesNothing() throws Exception {
    Path plugins = Files.createDirectory(folder.resolve("plugins"));
    Files.writeString(plugins.resolve("README.txt"), "no jar");
    assertThat(PluginFolder.classLoader(Optional.of(plugins)))
        .isSameAs(PluginFolder.classLoader(Optional.of(folder.resolve("missing"))))
        .isSameAs(PluginFolder.class.getClassLoader());
  }
}

package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The next build of Isola: this one with one more migration, which adds a column to the table of
 * sandboxes and a table. The list of migrations is compiled from its source with one more line.
 */
final class NextBuild {
  private static final Path SOURCE =
      Path.of("..", "store", "src", "main", "java", "dev", "isola", "store", "Migrations.java");
  private static final String LAST = "0001-schema.sql";
  private static final String NEXT = "0002-next-release.sql";

  /** The version of the schema that this build creates. */
  static final int SCHEMA_VERSION = 2;

  private NextBuild() {}

  /** Compiles the build and returns its class path. */
  static String classPath(Path folder) throws IOException {
    Path classes = folder.resolve("next-build");
    Path migrations = classes.resolve("dev/isola/store/migrations");
    Files.createDirectories(migrations);
    Files.writeString(
        migrations.resolve(NEXT),
        """
        -- What a later release might add.
        alter table sandbox add column next_release text;
        create table next_release (name text not null primary key);
        """);
    String source = Files.readString(SOURCE);
    String changed = source.replace("\"" + LAST + "\")", "\"" + LAST + "\", \"" + NEXT + "\")");
    assertThat(changed).as("the list of migrations ends with " + LAST).isNotEqualTo(source);
    Path file = folder.resolve("next-source").resolve("Migrations.java");
    Files.createDirectories(file.getParent());
    Files.writeString(file, changed);
    compile(file, classes);
    return classes + File.pathSeparator + System.getProperty("java.class.path");
  }

  private static void compile(Path file, Path classes) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter output = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      Boolean compiled =
          compiler
              .getTask(
                  output,
                  files,
                  null,
                  List.of(
                      "-proc:none",
                      "-d",
                      classes.toString(),
                      "-cp",
                      System.getProperty("java.class.path")),
                  null,
                  files.getJavaFileObjects(file))
              .call();
      assertThat(compiled).as(output.toString()).isTrue();
    }
  }
}

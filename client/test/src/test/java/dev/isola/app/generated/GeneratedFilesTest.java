package dev.isola.app.generated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.isola.codec.json.Json;
import dev.isola.testing.program.ProgramResult;
import dev.isola.testing.program.RepositoryRoot;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A1: the files that are generated from the OpenAPI document are those of this server. With {@code
 * -Disola.generate=true} it writes them.
 */
@Timeout(120)
class GeneratedFilesTest {
  private static final boolean WRITE = Boolean.getBoolean("isola.generate");

  @TempDir static Path folder;

  @TestFactory
  Stream<DynamicTest> filesAreThoseOfTheOpenApiDocument() throws IOException, InterruptedException {
    Path document = folder.resolve("openapi.json");
    try (TestServer server = TestServer.start(folder.resolve("data"), "subprocess");
        HttpClient http = HttpClient.newHttpClient()) {
      http.send(
          HttpRequest.newBuilder(URI.create(server.url() + "/api/v1/openapi.json")).build(),
          BodyHandlers.ofFile(document));
    }
    Schemas schemas = Schemas.of(Json.parse(Files.readString(document)));
    return Stream.of(
        file("docs/create-request.md", () -> new FieldReference(schemas).page()),
        file(
            "client/java/src/main/java/dev/isola/client/CreateFields.java",
            () -> new JavaFields(schemas).source()),
        file(
            "client/python/src/isola/models.py",
            () -> output("python3", "client/python/tools/generate_models.py", "--print", document)),
        file(
            "client/typescript/src/generated/models.ts",
            () -> output("node", "client/typescript/scripts/models.mjs", "", document)));
  }

  /** Produces the text of a file. */
  private interface Generator {
    String text() throws IOException, InterruptedException;
  }

  private static DynamicTest file(String name, Generator generator) {
    return dynamicTest(
        name,
        () -> {
          Path file = RepositoryRoot.resolve(name);
          String text = generator.text();
          if (WRITE) {
            Files.writeString(file, text);
          }
          assertThat(file)
              .as("run ./check -pl client/test -Dtest=GeneratedFilesTest -Disola.generate=true")
              .hasContent(text);
        });
  }

  private static String output(String program, String script, String option, Path document)
      throws IOException, InterruptedException {
    String path = RepositoryRoot.resolve(script).toString();
    String[] command =
        option.isEmpty()
            ? new String[] {program, path, document.toString()}
            : new String[] {program, path, option, document.toString()};
    ProgramResult result;
    try {
      result = ProgramResult.run(folder, Map.of(), command);
    } catch (IOException e) {
      return Assumptions.abort("NOT RUN: there is no " + program + ": " + e.getMessage());
    }
    assertThat(result.code()).as(result.output()).isZero();
    return result.output();
  }
}

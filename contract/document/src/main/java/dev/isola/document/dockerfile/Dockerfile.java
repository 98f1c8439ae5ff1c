package dev.isola.document.dockerfile;

import java.util.List;
import java.util.Map;

/**
 * A Dockerfile, read as a recipe. Supported are FROM, RUN, COPY, ADD of local files, ENV, ARG,
 * USER, WORKDIR, CMD and ENTRYPOINT; EXPOSE, LABEL, MAINTAINER and STOPSIGNAL have no effect.
 * Everything else is an error that names the line.
 *
 * @param recipe the document for {@link dev.isola.document.RecipeDocument}; its copy steps name no
 *     archives. {@code start} is the command of CMD and ENTRYPOINT
 * @param notes what has no effect, for the author
 */
public record Dockerfile(Map<String, Object> recipe, List<String> notes) {

  /**
   * Reads a Dockerfile.
   *
   * @param arguments values for ARG
   * @throws dev.isola.spi.error.InvalidRequest naming the line that cannot be used
   */
  public static Dockerfile read(String text, Map<String, String> arguments) {
    DockerfileReader reader = new DockerfileReader(arguments);
    Instruction.parse(text).forEach(reader::add);
    return reader.end();
  }
}

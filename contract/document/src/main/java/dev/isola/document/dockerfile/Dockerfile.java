package dev.isola.document.dockerfile;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

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
   * @param images returns the variables of an image; empty if the image is not known. Called at
   *     most once, and only if an instruction uses a variable
   * @throws dev.isola.spi.error.InvalidRequest naming the line that cannot be used
   */
  public static Dockerfile read(
      String text,
      Map<String, String> arguments,
      Function<String, Optional<Map<String, String>>> images) {
    DockerfileReader reader = new DockerfileReader(arguments, images);
    Instruction.parse(text).forEach(reader::add);
    return reader.end();
  }
}

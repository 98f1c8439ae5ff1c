package dev.isola.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Templates of a server. To create a sandbox from a template, name it in the spec. */
public final class Templates {
  /** Timeout for removal, which includes the template's image. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private static final ApiPath ENDPOINT = ApiPath.of("templates");
  private final Transport transport;

  Templates(Transport transport) {
    this.transport = transport;
  }

  public List<TemplateInfo> list() {
    return transport.get(ENDPOINT).list("templates").stream().map(TemplateInfo::read).toList();
  }

  public TemplateInfo get(String name) {
    return TemplateInfo.read(transport.get(ENDPOINT.resolve(name)));
  }

  /** Removes a template with its image and builds. Fails while a sandbox uses it. */
  public void remove(String name) {
    transport.delete(ENDPOINT.resolve(name), TIMEOUT);
  }

  /** Lists the retained builds of a template, newest first. */
  public List<TemplateBuildInfo> builds(String name) {
    return transport.get(ENDPOINT.resolve(name, "builds")).list("builds").stream()
        .map(TemplateBuildInfo::read)
        .toList();
  }

  /** Returns a handle to an existing build. */
  public TemplateBuild build(String name, String build) {
    return new TemplateBuild(transport, ENDPOINT.resolve(name, "builds", build), build);
  }

  /** Starts a build with the provider and network that the server chooses. */
  public TemplateBuild build(String name, TemplateRecipe recipe, Path folder) throws IOException {
    return build(name, recipe, folder, "", "");
  }

  /**
   * Starts a build. Archives and uploads the files of its copy steps first, unless the server
   * already has them.
   *
   * @param folder that copy paths are relative to; its {@code .dockerignore} is respected
   * @param provider that runs the build; if empty, the server chooses
   * @param network mode of the steps: bridge or host; if empty, the provider's default
   * @throws IOException if a file to copy cannot be read
   */
  public TemplateBuild build(
      String name, TemplateRecipe recipe, Path folder, String provider, String network)
      throws IOException {
    Map<String, Object> body = new HashMap<>();
    body.put("recipe", withUploads(recipe, folder).document());
    if (!provider.isEmpty()) {
      body.put("provider", provider);
    }
    if (!network.isEmpty()) {
      body.put("network", network);
    }
    JsonFields started = transport.post(ENDPOINT.resolve(name, "builds"), body);
    return build(started.text("template"), started.text("id"));
  }

  /** Returns the recipe with the uploaded archive of each copy step. */
  TemplateRecipe withUploads(TemplateRecipe recipe, Path folder) throws IOException {
    return RecipeArchives.store(recipe, folder, this::upload);
  }

  private void upload(RecipeArchives.Archive archive) throws IOException {
    ApiPath endpoint = ENDPOINT.resolve("uploads", archive.sha256());
    if (!transport.get(endpoint).flag("uploaded")) {
      try (InputStream in = archive.open()) {
        CountingInputStream counted = new CountingInputStream(in, bytes -> {});
        transport.upload(
            "PUT",
            endpoint,
            "application/x-tar",
            BodyPublishers.fromPublisher(
                BodyPublishers.ofInputStream(() -> counted), archive.size()),
            counted::count);
      }
    }
  }
}

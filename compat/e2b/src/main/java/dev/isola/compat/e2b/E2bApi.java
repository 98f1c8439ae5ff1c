package dev.isola.compat.e2b;

import dev.isola.compat.e2b.control.E2bMetricsRoutes;
import dev.isola.compat.e2b.control.E2bPortDialect;
import dev.isola.compat.e2b.control.E2bSandboxListRoutes;
import dev.isola.compat.e2b.control.E2bSandboxRoutes;
import dev.isola.compat.e2b.control.E2bSandboxView;
import dev.isola.compat.e2b.control.E2bSecretRoutes;
import dev.isola.compat.e2b.control.E2bSnapshotRoutes;
import dev.isola.compat.e2b.create.CreateRequestMapper;
import dev.isola.compat.e2b.envd.EnvdRoutes;
import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bSandboxIds;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.compat.e2b.model.InsecureAccess;
import dev.isola.compat.e2b.template.BaseImageBuilder;
import dev.isola.compat.e2b.template.E2bTagRoutes;
import dev.isola.compat.e2b.template.E2bTemplateRoutes;
import dev.isola.compat.e2b.template.E2bTemplates;
import dev.isola.compat.e2b.volume.E2bVolumeRoutes;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Implements E2B's API, so that E2B's clients work against this server. A request names a sandbox
 * by the host {@code PORT-ID.DOMAIN} or by headers; port 49983 of every sandbox stands for its
 * files and processes.
 */
public final class E2bApi implements ApiExtension {
  private static final String ID_HEADER = "E2b-Sandbox-Id";
  private static final String PORT_HEADER = "E2b-Sandbox-Port";

  /**
   * The port through which E2B's clients reach envd. It is answered by this server and never
   * forwarded to the sandbox.
   */
  private static final int ENVD_PORT = 49_983;

  private final ServerContext context;
  private final List<Route> routes;

  /**
   * @param images the images that templates are built from
   */
  public E2bApi(ServerContext context, ApiKeys keys, E2bSettings settings, ImageService images) {
    this.context = context;
    routes = routes(context, keys, settings, images);
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public Optional<ApiDialect> dialect(
      Function<String, List<String>> headers, Optional<HostOriginFilter.PreviewTarget> target) {
    if (target.isPresent()) {
      return Optional.of(
          isEnvd(target.get())
              ? E2bDialect.ENVD
              : new E2bPortDialect(
                  context,
                  target.get(),
                  !headers.apply(ID_HEADER).isEmpty(),
                  E2bPortDialect.presentsNativeCredential(headers)));
    }
    return headers.apply(E2bCredentials.KEY_HEADER).isEmpty()
        ? Optional.empty()
        : Optional.of(E2bDialect.CONTROL);
  }

  @Override
  public Optional<PortName> port(Function<String, List<String>> headers) {
    String port =
        headers.apply(PORT_HEADER).stream().findFirst().orElse(Integer.toString(ENVD_PORT));
    return headers.apply(ID_HEADER).stream().findFirst().map(id -> new PortName(id, port));
  }

  @Override
  public Set<String> idSuffixes() {
    return Set.of(E2bSandboxIds.SUFFIX);
  }

  @Override
  public Optional<String> path(HostOriginFilter.PreviewTarget target, String path) {
    return isEnvd(target)
        ? Optional.of(EnvdRoutes.PREFIX + target.sandbox() + path)
        : Optional.empty();
  }

  private static boolean isEnvd(HostOriginFilter.PreviewTarget target) {
    return target.port() == ENVD_PORT;
  }

  @Override
  public PortCredentials portCredentials() {
    return E2bCredentials.PORTS;
  }

  private static List<Route> routes(
      ServerContext context, ApiKeys keys, E2bSettings settings, ImageService images) {
    E2bSandboxView view = new E2bSandboxView(context, keys, settings.domain());
    E2bTemplates templates = new E2bTemplates(context, images, new BaseImageBuilder(images));
    CreateRequestMapper mapper = new CreateRequestMapper(settings);
    List<Route> storageRoutes =
        settings
            .storage()
            .map(
                storage ->
                    Stream.of(
                            new E2bTagRoutes(context).routes(), // before /templates/{template}
                            new E2bTemplateRoutes(context, keys, templates, settings).routes(),
                            E2bVolumeRoutes.all(storage, context, templates, settings.provider()))
                        .flatMap(List::stream)
                        .toList())
            .orElse(List.of());
    return Stream.of(
            storageRoutes,
            new E2bSandboxRoutes(context, templates, mapper, view).routes(),
            new E2bSandboxListRoutes(context, view).routes(),
            new E2bSnapshotRoutes(context, templates, view).routes(),
            new E2bMetricsRoutes(context).routes(),
            new E2bSecretRoutes(context).routes(),
            new EnvdRoutes(context, keys, new InsecureAccess(context, settings.allowInsecure()))
                .routes())
        .flatMap(List::stream)
        .toList();
  }
}

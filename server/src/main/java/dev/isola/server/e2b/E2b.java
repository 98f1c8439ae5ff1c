package dev.isola.server.e2b;

import dev.isola.server.api.Images;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.context.Serving;
import dev.isola.server.e2b.control.ControlRoutes;
import dev.isola.server.e2b.control.Described;
import dev.isola.server.e2b.control.ListRoutes;
import dev.isola.server.e2b.control.MeasureRoutes;
import dev.isola.server.e2b.control.PictureRoutes;
import dev.isola.server.e2b.create.Beginnings;
import dev.isola.server.e2b.create.Wanted;
import dev.isola.server.e2b.envd.EnvdRoutes;
import dev.isola.server.e2b.model.E2bSettings;
import dev.isola.server.e2b.template.BaseImage;
import dev.isola.server.e2b.template.TemplateBook;
import dev.isola.server.e2b.template.TemplateRoutes;
import dev.isola.server.e2b.template.Templates;
import dev.isola.server.e2b.volume.VolumeRoutes;
import dev.isola.server.route.Route;
import java.util.List;
import java.util.stream.Stream;

/** All that E2B's clients may ask, as rows of the table. */
public final class E2b {
  private E2b() {}

  public static List<Route> routes(
      Serving serving, ApiKeys keys, E2bSettings settings, Images images) {
    Described described = new Described(serving, keys);
    Templates templates =
        new Templates(
            serving,
            images,
            settings.keep().map(keep -> new TemplateBook(keep.settings())),
            new BaseImage(images));
    Beginnings beginnings = new Beginnings(serving);
    Wanted wanted = new Wanted(settings);
    List<Route> building =
        settings
            .keep()
            .map(
                keep ->
                    Stream.concat(
                            new TemplateRoutes(serving, keys, images, templates, settings, keep)
                                .routes().stream(),
                            VolumeRoutes.all(
                                keep.settings(), serving, templates, settings.provider())
                                .stream())
                        .toList())
            .orElse(List.of());
    return Stream.of(
            building,
            new ControlRoutes(serving, templates, wanted, beginnings, described).routes(),
            new ListRoutes(serving, described).routes(),
            new PictureRoutes(serving, templates, beginnings, described).routes(),
            new MeasureRoutes(serving).routes(),
            new EnvdRoutes(serving, keys).routes())
        .flatMap(List::stream)
        .toList();
  }
}

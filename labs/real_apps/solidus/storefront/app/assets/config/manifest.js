// sprockets-rails does not boot without this file. The storefront's only asset lies in public/.

"""Django's settings, as production wants them: no debugging, and of its middleware what an API without users needs."""

DEBUG = False
SECRET_KEY = "nothing here is signed with it"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",  # without it there is no Content-Length
]
